import type { Json } from '../../contracts/frames.js';
import type { Agreement, Vote } from '../agreement.js';
import { above, atLeast } from '../numbers.js';
import { answerOf, contributes } from '../lane.js';
import { agreementBy } from '../remembered-agreement.js';
import { allEnded, countedVotes, isPastDeadline, isScored, reconcilableVotes, votesOf, type Session } from './state.js';

/** No lane can finalise any more, or none is waited for: what there is has to do. */
const isLate = (session: Session, now: number): boolean =>
  session.state === 'DEADLINE' || allEnded(session) || isPastDeadline(session, now);

/** A judge is paid for each look: it is shown finals, and partial answers only when there will be nothing else. */
export const presentVotes = (session: Session, now: number): Vote[] => {
  if (isLate(session, now)) return reconcilableVotes(session);
  return isScored(session) ? votesOf(session, false) : countedVotes(session);
};

/** Agreement of given votes of a session, by its own method and what its scorer last found. */
export const agreementAmong = (session: Session, votes: readonly Vote[]): Agreement =>
  agreementBy(votes, session.setup.policy.agreement, session.scored?.partition ?? undefined);

/** Agreement of the answers so far; of the frozen ones, once there are any. */
export const presentAgreement = (session: Session, now: number): Agreement => {
  const { frozen, setup } = session;
  return frozen
    ? agreementBy(frozen.votes, setup.policy.agreement, frozen.partition ?? undefined)
    : agreementAmong(session, presentVotes(session, now));
};

/** A threshold of 0 is no leave to answer with nothing. */
export const holds = (session: Session, { leader, value }: Agreement): boolean =>
  leader !== null && atLeast(value, session.setup.policy.threshold);

/** Quorum (spec 01): agreement at or above the threshold with enough lanes that have delivered anything. */
export const hasQuorum = (session: Session, agreement: Agreement): boolean => {
  if (!holds(session, agreement)) return false;
  if (allEnded(session)) return true;
  const delivered = session.lanes.filter((lane) => contributes(lane) && answerOf(lane) !== null);
  return delivered.length >= session.setup.policy.quorum_min;
};

/**
 * Tentative votes make a provisional but never end a session before its deadline: two streams that have begun with the
 * same words are no answer yet.
 */
export const leaderHasFinal = ({ leader }: Pick<Agreement, 'leader'>): boolean =>
  leader !== null && above(leader.finalWeight, 0);

/** What a lane says now, be it final or not; '' where it has said nothing that stands. */
export const answerBy = (session: Session, laneId: string): Json =>
  votesOf(session, true).find((vote) => vote.laneId === laneId)?.answer ?? '';
