import type { LaneStatus, Provisional, SessionStatus } from '../../contracts/session-status.js';
import type { Lifecycle, Spend } from '../../contracts/work.js';
import { usd } from '../budget.js';
import { iso } from '../instant.js';
import { answerOf, isRunning, type Lane } from '../lane.js';
import type { Amount } from './setup.js';
import { spent, type Session } from './state.js';
import { describeWaiting } from '../waiting.js';
import { viewEnd } from '../view-end.js';

export const spend = (amount: Amount): Spend => ({ tokens: amount.tokens, usd: usd(amount.usdMicros) });

const laneStatus = (lane: Lane): LaneStatus => ({
  lane_id: lane.setup.laneId,
  state: lane.state,
  persona_id: lane.setup.personaId,
  diversity_seed: lane.setup.diversitySeed,
  tier: lane.setup.tier,
  weight: lane.setup.weight,
  adapter: lane.setup.adapterName,
  attempt: lane.attempt,
  answer:
    lane.state === 'FINALIZED' ? lane.answer : lane.text === '' ? null : answerOf({ ...lane, state: 'STREAMING' }),
  ...lane.counts,
  usage: spend(lane.usage),
  reason: lane.reason,
  window: lane.window,
});

export const lifecycleOf = (session: Session): Lifecycle => {
  switch (session.state) {
    case 'COMPLETE':
      return 'completed';
    case 'ERROR':
      return 'failed';
    case 'CANCELLED':
      return 'cancelled';
    default:
      return session.waiting?.for === 'person' || session.waiting?.for === 'budget' ? 'waiting' : 'running';
  }
};

const provisionalOf = (session: Session): Provisional | null => {
  const { provisional, setup } = session;
  if (!provisional) return null;
  return { ...provisional, at: iso(provisional.at), expiry_ms: setup.policy.provisional.expiry_ms };
};

/** The status of spec 10, a projection of the one state. */
export const sessionStatus = (session: Session): SessionStatus => {
  const { setup } = session;
  return {
    id: setup.id,
    kind: 'session',
    tenant: setup.tenant,
    labels: setup.labels,
    lifecycle: lifecycleOf(session),
    state: session.state,
    prompt: setup.prompt,
    profile: setup.policy.profile,
    lanes: session.lanes.map(laneStatus),
    agreement: session.agreement,
    threshold: setup.policy.threshold,
    provisional: provisionalOf(session),
    waiting: describeWaiting(session),
    result: session.result,
    error: session.error,
    spend: spend(spent(session)),
    ...viewEnd('sessions', session),
  };
};

/** What Temporal's Web UI shows of a session, in markdown: enough to tell what it is doing without Parley's page. */
export const sessionDetails = (session: Session): string => {
  const waiting = describeWaiting(session);
  const lines = [
    `**${session.state}**, agreement ${session.agreement.toFixed(2)} (threshold ${session.setup.policy.threshold})`,
    ...(waiting ? [`Waiting for ${waiting.for}: ${waiting.detail}. Who can unblock: ${waiting.who_can_unblock}.`] : []),
    '',
    '| lane | tier | state | answer |',
    '|---|---|---|---|',
    ...session.lanes.map((lane) => {
      const { laneId, tier } = lane.setup;
      const said =
        lane.reason && !isRunning(lane) ? `${lane.reason.code}: ${lane.reason.message}` : short(answerOf(lane));
      return `| ${laneId} | ${tier} | ${lane.state} | ${said.replaceAll('|', '\\|')} |`;
    }),
  ];
  if (session.result) lines.push('', `Final answer (${session.result.ended_by}): ${short(session.result.answer)}`);
  if (session.error) lines.push('', `${session.error.code}: ${short(session.error.message)}`);
  return lines.join('\n');
};

const short = (answer: unknown): string => {
  const text = answer === null ? '' : typeof answer === 'string' ? answer : JSON.stringify(answer);
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
};
