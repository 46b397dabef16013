import type { Json } from '../../contracts/frames.js';
import type { Reconciliation } from '../../contracts/session.js';
import type { SessionResult } from '../../contracts/session-status.js';
import { chooseReconciliation } from '../adaptive.js';
import { type Vote } from '../agreement.js';
import { usd } from '../budget.js';
import { atLeast } from '../numbers.js';
import { reconcile, type Reconciled } from '../reconciliation.js';
import { agreementBy } from '../remembered-agreement.js';
import type { Session } from './state.js';

/** The policy in force: as asked, or chosen by need when `adaptive` is on (details 1.4). */
export const reconciliationOf = (session: Session): Reconciliation => {
  const { policy, lanes } = session.setup;
  if (!policy.adaptive.enabled) return policy.reconciliation;
  const personas = new Set(lanes.map((lane) => lane.personaId)).size;
  const chosen = chooseReconciliation({
    reconcileTimeoutMs: policy.adaptive.reconcile_timeout_ms,
    qualityNeed: policy.adaptive.quality_need,
    costSensitivity: policy.adaptive.cost_sensitivity,
    personas,
  });
  // The arbiter is a state here, not a policy: where it is the choice, the answers are reconciled by consensus around it.
  return chosen === 'arbiter' ? 'consensus' : chosen;
};

/** The frozen answers as one. @throws ParleyError ECONSENSUS when there are none */
export const reconciled = (session: Session): Reconciled => {
  const { votes, partition } = session.frozen ?? { votes: [], partition: null };
  return reconcile(reconciliationOf(session), votes, session.setup.policy.agreement, partition ?? undefined);
};

const arbitrated = (session: Session): boolean => session.arbiter?.outcome === 'answered';

/** The texts a merge adapter is to make one of, or null: then no call is needed. */
export const mergeTexts = (session: Session): Reconciled['texts'] => {
  if (session.frozen === null || session.setup.merge === null || arbitrated(session)) return null;
  return reconciliationOf(session) === 'weighted_merge' ? reconciled(session).texts : null;
};
export const needsMergeCall = (session: Session): boolean => {
  const texts = mergeTexts(session);
  return texts !== null && texts.length > 1;
};

/** Lanes whose answers agree with the arbiter's, by the session's own method; a vote of no weight finds its group. */
const agreeingWith = (answer: Json, votes: readonly Vote[], session: Session): Set<string> => {
  const arbiter: Vote = { laneId: '', order: votes.length, weight: 0, tier: 'gold', answer, final: true, endedAt: 0 };
  const { groups } = agreementBy([...votes, arbiter], session.setup.policy.agreement);
  return new Set(groups.find((group) => group.lanes.includes(''))?.lanes ?? []);
};

/** The result of spec 01 and 10; there is one place that asks for it, RECONCILING -> COMPLETE. */
export const sessionResult = (session: Session, now: number): SessionResult => {
  const { policy } = session.setup;
  const votes = session.frozen?.votes ?? [];
  const outcome = reconciled(session);
  const merged = session.merge?.outcome === 'answered' ? session.merge.answer : null;
  const arbiterAnswer = arbitrated(session) ? (session.arbiter?.answer ?? null) : null;
  const agreeing = arbiterAnswer === null ? null : agreeingWith(arbiterAnswer, votes, session);
  const weigh = (vote: Vote): { lane_id: string; weight: number } => ({ lane_id: vote.laneId, weight: vote.weight });
  const forLanes = agreeing ? votes.filter((vote) => agreeing.has(vote.laneId)).map(weigh) : outcome.forLanes;
  const against = agreeing ? votes.filter((vote) => !agreeing.has(vote.laneId)).map(weigh) : outcome.against;
  const cancelled = session.lanes.filter(
    (lane) =>
      lane.state === 'CANCELLED' || lane.state === 'STREAMING' || lane.state === 'PAUSED' || lane.state === 'ADMITTED',
  );
  // A lane that was preempted had to go for want of money: that saved nothing.
  const spared = cancelled.filter((lane) => lane.reason?.code !== 'preempted');
  const saved = spared.reduce(
    (sum, lane) => ({
      tokens: sum.tokens + Math.max(0, lane.setup.estimate.tokens - lane.usage.tokens),
      usdMicros: sum.usdMicros + Math.max(0, lane.setup.estimate.usdMicros - lane.usage.usdMicros),
    }),
    { tokens: 0, usdMicros: 0 },
  );
  const winner = session.lanes.find((lane) => lane.setup.laneId === outcome.representative);
  const since = (at: number | null): number | null => (at === null ? null : Math.max(0, at - session.startedAt));
  const fallback = session.arbiter && session.arbiter.outcome !== 'answered' ? session.arbiter.outcome : null;
  return {
    answer: arbiterAnswer ?? merged ?? outcome.answer,
    policy: reconciliationOf(session),
    agreement: session.agreement,
    for: forLanes,
    against,
    total_weight: outcome.totalWeight,
    completed_count: session.lanes.filter((lane) => lane.state === 'FINALIZED').length,
    total_personas: new Set(session.lanes.map((lane) => lane.setup.personaId)).size,
    // What still runs now is cancelled by the very step that emits this result.
    cancelled: cancelled.map((lane) => ({
      lane_id: lane.setup.laneId,
      reason: lane.reason?.code ?? 'session_complete',
    })),
    escalated: session.escalations > 0,
    arbiter_used: arbiterAnswer !== null,
    arbiter_fallback: fallback,
    below_threshold: !atLeast(session.agreement, policy.threshold),
    partial: outcome.partial,
    ended_by: session.endedBy ?? 'all_final',
    saved: { tokens: saved.tokens, usd: usd(saved.usdMicros) },
    winner:
      winner && arbiterAnswer === null && merged === null
        ? { lane_id: winner.setup.laneId, persona_id: winner.setup.personaId, clone: winner.setup.clone }
        : null,
    timing_ms: {
      first_partial: since(session.firstPartialAt),
      provisional: since(session.provisionalAt),
      final: Math.max(0, now - session.startedAt),
    },
  };
};
