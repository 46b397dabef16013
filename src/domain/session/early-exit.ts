import { isDecided, type Agreement } from '../agreement.js';
import { subtract, usd } from '../budget.js';
import { iso } from '../instant.js';
import type { Lane } from '../lane.js';
import { atLeast } from '../numbers.js';
import { holdMore } from '../work-account.js';
import { agreementAmong, hasQuorum, leaderHasFinal, presentVotes } from './agreement.js';
import type { SessionDraft } from './draft.js';
import { cancelLanes } from './lanes.js';
import { leaderChanged } from './provisional.js';
import { reconciliationOf } from './result.js';
import { isEscalation, reserved, running, votesOf, type Session } from './state.js';

/** A premium lane that was called in because of doubt is heard out: what made it necessary must not end it. */
export const awaitsPremium = (session: Session): boolean =>
  running(session).some((lane) => isEscalation(session, lane));

/**
 * Agreement at the early-exit threshold, and still there without the tentative votes of the bronze lanes that the exit
 * cancels: a cancelled lane counts no more, and an answer must not lose its footing by being given.
 */
export const exitsEarly = (session: Session, now: number, agreement: Agreement): boolean => {
  const { threshold } = session.setup.policy.early_exit;
  const suffices = (of: Agreement): boolean =>
    atLeast(of.value, threshold) && leaderHasFinal(of) && !leaderChanged(session, of);
  if (!hasQuorum(session, agreement) || !suffices(agreement)) return false;
  const staying = presentVotes(session, now).filter((vote) => vote.final || vote.tier !== 'bronze');
  return suffices(agreementAmong(session, staying));
};

/** Whether no outcome of the lanes still running could change the answer (spec 01 "Decided"). */
export const isAnswerDecided = (session: Session): boolean => {
  const { threshold, agreement } = session.setup.policy;
  const votes = votesOf(session, false);
  const firm = votes.reduce((sum, vote) => sum + vote.weight, 0);
  const runningWeight = running(session).reduce((sum, lane) => sum + lane.setup.weight, 0);
  // All finals together would not do: no need to compare them.
  if (!atLeast(firm / (firm + runningWeight), threshold)) return false;
  return isDecided({ votes, runningWeight, policy: agreement, reconciliation: reconciliationOf(session), threshold });
};

const isBronze = (lane: Lane): boolean => lane.setup.tier === 'bronze';

export const cancelBronze = (draft: SessionDraft): void => {
  const { session } = draft;
  const held = reserved(session);
  cancelLanes(draft, { code: 'early_exit', message: 'the others agree enough' }, isBronze);
  draft.freed = subtract(held, reserved(session));
  session.earlyExited = true;
};

/** What the cancelled lanes had left goes in equal parts to those still running. */
export const reallocateBudget = (draft: SessionDraft): void => {
  const { session, freed, now, events } = draft;
  const premium = running(session).filter((lane) => !isBronze(lane));
  const part = (amount: number): number => Math.floor(amount / Math.max(1, premium.length));
  const share = { tokens: part(freed.tokens), usdMicros: part(freed.usdMicros) };
  for (const { call } of premium) if (call !== undefined) session.ledger = holdMore(session.ledger, call, share);
  events.push({
    event: 'budget',
    data: {
      at: iso(now),
      action: 'reallocate_budget',
      freed_tokens: freed.tokens,
      freed_usd: usd(freed.usdMicros),
      to: premium.map((lane) => lane.setup.laneId),
    },
  });
};
