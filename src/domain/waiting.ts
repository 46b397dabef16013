import type { Waiting } from '../contracts/work.js';
import { iso } from './instant.js';
import { isRunning } from './lane.js';
import { allEnded, isPastDeadline, type Session, type WaitingRecord } from './session/state.js';

/** The one helper that says why a session is not moving; null: it is moving, or over. */
export const waitingFor = (session: Session): Omit<WaitingRecord, 'since'> | null => {
  switch (session.state) {
    case 'INIT':
      return session.setup.policy.elo_weights ? { for: 'worker', on: 'ratings' } : null;
    case 'DISPATCHED':
      return { for: 'worker', on: 'dispatch' };
    case 'STREAMING':
    case 'BUFFERING':
    case 'PROVISIONAL':
    case 'DEADLINE':
      return { for: 'lane', on: awaitsJudge(session) ? 'judge' : 'lanes' };
    case 'ARBITER':
      return { for: 'lane', on: 'arbiter' };
    case 'RECONCILING':
      return { for: 'lane', on: 'merge' };
    default:
      return null;
  }
};

/** A judge is what a session waits for only where no lane could move it on: all have ended, or their time is over. */
const awaitsJudge = (session: Session): boolean =>
  session.scoring !== null && (session.scoring.late || allEnded(session) || isPastDeadline(session, session.steppedAt));

const list = (ids: string[]): string =>
  ids.length > 6 ? `${ids.slice(0, 6).join(', ')} and ${ids.length - 6} more` : ids.join(', ');

export const describeWaiting = (session: Session): Waiting | null => {
  const { waiting } = session;
  if (!waiting) return null;
  const open = session.lanes.filter(isRunning);
  const ids = list(open.map((lane) => lane.setup.laneId));
  const paused = open.filter((lane) => lane.state === 'PAUSED').map((lane) => lane.setup.laneId);
  const words = {
    ratings: { detail: 'the ratings of the personas are being read', who: 'an operator: a worker has to be running' },
    dispatch: { detail: `no lane is dispatched yet: ${ids}`, who: 'an operator: a worker has to be running' },
    lanes: {
      detail: `${open.length} of ${session.lanes.length} lanes have not ended: ${ids}${paused.length > 0 ? `; paused by their agents: ${list(paused)}` : ''}`,
      who: 'the agents of these lanes, the deadline, or a cancel',
    },
    judge: { detail: 'the judge has not said which answers agree', who: 'the judge, its time limit, or a cancel' },
    arbiter: { detail: 'the arbiter has not answered', who: 'the arbiter, its time limit, or a cancel' },
    merge: { detail: 'the answers are being merged', who: 'the merge adapter, its time limit, or a cancel' },
  }[waiting.on];
  return {
    for: waiting.for,
    since: iso(waiting.since),
    detail: words.detail,
    who_can_unblock: words.who,
  };
};
