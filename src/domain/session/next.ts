import { hasQuorum, holds, leaderHasFinal, presentAgreement } from './agreement.js';
import { awaitsPremium, exitsEarly, isAnswerDecided } from './early-exit.js';
import { escalationOf } from './facts.js';
import type { SessionEventName } from './machine.js';
import { leaderChanged } from './provisional.js';
import { needsMergeCall } from './result.js';
import { scoreOf } from './scoring.js';
import { allEnded, hasAnswer, isPastDeadline, type Session } from './state.js';

/** What a session does next by itself: an event of its machine, or what has to come before one. */
export type Move = { type: 'raise'; on: SessionEventName } | { type: 'ask_scorer' } | { type: 'time_out_lanes' };

const raise = (on: SessionEventName): Move => ({ type: 'raise', on });

/** What the facts alone bring about in this state, or null: it waits. The order is the specification's. */
export const nextMove = (session: Session, now: number): Move | null => {
  const isSimple = session.setup.policy.profile === 'simple';
  switch (session.state) {
    case 'DISPATCHED':
      // A fork has lanes whose answers are there already: it may need no others.
      if (session.dispatchedAt !== null || session.lanes.some((lane) => lane.isKept)) return raise('DISPATCH_OK');
      return allEnded(session) ? raise('DISPATCH_ERR') : null;
    case 'STREAMING':
      return isSimple ? inSimpleStreaming(session, now) : inStreaming(session, now);
    case 'BUFFERING':
      return isSimple ? onceScored(session, now, () => raise('RECONCILE')) : inBuffering(session, now);
    case 'PROVISIONAL':
      return inProvisional(session, now);
    case 'DEADLINE':
      if (!hasAnswer(session)) return noAnswer(session);
      return onceScored(session, now, () => raise(escalationOf(session, now) === null ? 'RECONCILE' : 'ESCALATE'));
    case 'RECONCILING':
      return needsMergeCall(session) && session.merge === null ? null : raise('RECONCILED');
    default:
      return null;
  }
};

const inStreaming = (session: Session, now: number): Move | null => {
  if (session.lanes.some((lane) => lane.state === 'FINALIZED')) return raise('FINAL');
  if (session.lanes.some((lane) => lane.delivered)) return raise('PARTIAL');
  return allEnded(session) || isPastDeadline(session, now) ? noAnswer(session) : null;
};

const inSimpleStreaming = (session: Session, now: number): Move | null => {
  if (!allEnded(session)) return isPastDeadline(session, now) ? { type: 'time_out_lanes' } : null;
  return raise(hasAnswer(session) ? 'ALL_ENDED' : 'NO_ANSWER');
};

const inBuffering = (session: Session, now: number): Move | null => {
  if (allEnded(session)) {
    return hasAnswer(session) ? onceScored(session, now, () => raise('ALL_ENDED')) : noAnswer(session);
  }
  if (isPastDeadline(session, now)) return hasAnswer(session) ? raise('DEADLINE') : noAnswer(session);
  return onceScored(session, now, () => {
    const agreement = presentAgreement(session, now);
    if (!hasQuorum(session, agreement)) return null;
    // A provisional may rest on tentative votes; what ends the session may not.
    const suffices = session.setup.policy.provisional.enabled || (leaderHasFinal(agreement) && !awaitsPremium(session));
    return suffices ? raise('QUORUM_REACHED') : null;
  });
};

const inProvisional = (session: Session, now: number): Move | null => {
  if (!hasAnswer(session) && allEnded(session)) return noAnswer(session);
  return onceScored(session, now, () => {
    const agreement = presentAgreement(session, now);
    if (!holds(session, agreement) || leaderChanged(session, agreement)) return raise('REVISION');
    if (allEnded(session)) return raise('ALL_ENDED');
    if (session.setup.policy.early_exit.enabled && !session.earlyExited && !awaitsPremium(session)) {
      if (exitsEarly(session, now, agreement)) return raise('EARLY_EXIT');
      if (isAnswerDecided(session)) return raise('DECIDED');
    }
    return isPastDeadline(session, now) ? raise('DEADLINE') : null;
  });
};

/** Lanes that still run are out of time first, so that the error can name every lane's reason. */
const noAnswer = (session: Session): Move => (allEnded(session) ? raise('NO_ANSWER') : { type: 'time_out_lanes' });

/** Nothing is decided on answers that a judge has yet to compare. */
const onceScored = (session: Session, now: number, decide: () => Move | null): Move | null => {
  switch (scoreOf(session, now)) {
    case 'known':
      return decide();
    case 'unasked':
      return { type: 'ask_scorer' };
    case 'asked':
      return null;
  }
};
