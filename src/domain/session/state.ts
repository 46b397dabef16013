import type { Json } from '../../contracts/frames.js';
import type { SessionErrorBody, SessionResult, SessionState } from '../../contracts/session-status.js';
import type { Waiting } from '../../contracts/work.js';
import type { Lane } from '../lane.js';
import { answerOf, contributes, isRunning, openLane } from '../lane.js';
import { isVote, type Vote } from '../agreement.js';
import { add, noAmount, subtract } from '../budget.js';
import type { LedgerState } from '../ledger/state.js';
import { openWorkAccount, reservedOf, spentOf } from '../work-account.js';
import type { Amount, SessionSetup } from './setup.js';

export interface ProvisionalRecord {
  number: number;
  answer: Json;
  agreement: number;
  lanes: string[];
  at: number;
  expired: boolean;
  revised: boolean;
}

/** What an external scorer (a judge) said of a set of answers; `key` tells whether it is still of these answers. */
export interface Scored {
  key: string;
  partition: string[][] | null;
  /** Asked past the deadline: then it is the last word, whatever comes meanwhile. */
  late: boolean;
}

export interface CallRecord {
  usage: Amount;
  outcome: 'answered' | 'failed' | 'timeout' | 'budget';
  answer: Json | null;
}

/** What a session waits for, without the words: set once per change, so that `since` is true (spec 08 "waiting"). */
export interface WaitingRecord {
  for: Waiting['for'];
  on: 'ratings' | 'dispatch' | 'lanes' | 'judge' | 'arbiter' | 'merge';
  since: number;
}

/** A whole session as plain JSON: what continue-as-new carries, `snapshot` returns and a fork would start from. */
export interface Session {
  setup: SessionSetup;
  state: SessionState;
  lanes: Lane[];
  startedAt: number;
  /** When it last took an event: nothing that was due by then is due any more. */
  steppedAt: number;
  dispatchedAt: number | null;
  deadlineAt: number | null;
  endedAt: number | null;
  firstPartialAt: number | null;
  provisionalAt: number | null;
  provisional: ProvisionalRecord | null;
  /** Agreement as last computed over the lanes that have answered. */
  agreement: number;
  scored: Scored | null;
  /** What the scorer is being asked. */
  scoring: Omit<Scored, 'partition'> | null;
  escalations: number;
  /** Premium lanes that ended in the work that this one was forked from; an escalation takes its own instead of asking it. */
  premiums?: Lane[];
  earlyExited: boolean;
  endedBy: SessionResult['ended_by'] | null;
  /** Votes as they stood when the inputs were frozen; reconciliation uses these alone. */
  frozen: { votes: Vote[]; partition: string[][] | null } | null;
  arbiter: CallRecord | null;
  merge: CallRecord | null;
  /** The budget: what lanes that run hold, and what those that have ended and the calls of judge, arbiter and merge used. */
  ledger: LedgerState;
  waiting: WaitingRecord | null;
  result: SessionResult | null;
  error: SessionErrorBody | null;
  /** Events that came where the machine takes none (details 6.4). */
  dropped: number;
}

export const openSessionState = (setup: SessionSetup, now: number): Session => ({
  setup,
  state: 'INIT',
  lanes: setup.lanes.map(openLane),
  startedAt: now,
  steppedAt: now,
  dispatchedAt: null,
  deadlineAt: null,
  endedAt: null,
  firstPartialAt: null,
  provisionalAt: null,
  provisional: null,
  agreement: 0,
  scored: null,
  scoring: null,
  escalations: 0,
  earlyExited: false,
  endedBy: null,
  frozen: null,
  arbiter: null,
  merge: null,
  ledger: openWorkAccount(setup.budget, now),
  waiting: null,
  result: null,
  error: null,
  dropped: 0,
});

/** Votes of the lanes that have answered so far; without `partials`, of those that have finalised. */
export const votesOf = (session: Session, partials: boolean): Vote[] =>
  session.lanes.flatMap((lane) => {
    const final = lane.state === 'FINALIZED';
    const answer = contributes(lane) && (final || partials) ? answerOf(lane) : null;
    if (answer === null) return [];
    const { laneId, weight, tier } = lane.setup;
    return [{ laneId, order: lane.order, weight, tier, answer, final, endedAt: final ? lane.endedAt : null }];
  });

/** Tentative votes count while `count_partials` is on; and where nobody has finalised, what there is has to do. */
export const countedVotes = (session: Session): Vote[] => {
  const { agreement, count_partials } = session.setup.policy;
  return votesOf(session, count_partials).filter((vote) => isVote(vote, agreement));
};
export const reconcilableVotes = (session: Session): Vote[] => {
  const counted = countedVotes(session);
  return counted.length > 0 ? counted : votesOf(session, true);
};

export const running = (session: Session): Lane[] => session.lanes.filter(isRunning);
export const allEnded = (session: Session): boolean => running(session).length === 0;
export const hasAnswer = (session: Session): boolean =>
  session.lanes.some((lane) => contributes(lane) && answerOf(lane) !== null);

export const isPastDeadline = ({ deadlineAt }: Session, now: number): boolean =>
  deadlineAt !== null && now >= deadlineAt;

/** Lanes that were added on escalation stand behind the prepared ones. */
export const isEscalation = (session: Session, lane: Lane): boolean => lane.order >= session.setup.lanes.length;

/** Names the answers a scorer was asked about: a partition of other answers says nothing of these. */
export const scoreKey = (votes: readonly Vote[]): string =>
  votes.map((vote) => `${vote.laneId}:${vote.final ? 'final' : 'partial'}`).join(' ');

export const isScored = (session: Session): boolean => session.setup.policy.agreement.method === 'judge';

/** What lanes have used that still hold a part of the budget. */
const underWay = ({ lanes }: Session): Amount =>
  lanes.reduce<Amount>((sum, { call, usage }) => (call === undefined ? sum : add(sum, usage)), noAmount);
/** What this session itself has spent: what a lane cost that it was forked with was paid by another. */
export const spent = (session: Session): Amount => add(spentOf(session.ledger), underWay(session));
/** What running lanes hold and have not used yet. */
export const reserved = (session: Session): Amount => subtract(reservedOf(session.ledger), underWay(session));
