import type { SessionDurableEvent } from '../../contracts/session-events.js';
import type { RatingTable } from '../../contracts/memory.js';
import type { LaneReport } from '../lane.js';
import type { Amount } from './setup.js';
import type { CallRecord, Session } from './state.js';

/** What can happen to a session, from outside the pure code. */
export type SessionEvent =
  | { type: 'FAN_OUT' }
  /** What memory knows of the personas; null: it could not be read, and `message` says why. */
  | { type: 'RATINGS'; ratings: RatingTable | null; message?: string }
  /** What happened in one instant, as far as its reporter can tell: the lanes take all of it, then the session decides. */
  | { type: 'REPORTS'; reports: readonly LaneReport[] }
  /** The activity that ran a group ended; lanes it left open have lost their agent. */
  | { type: 'GROUP_ENDED'; group: string; message: string }
  | { type: 'TICK' }
  | { type: 'SCORED'; key: string; partition: string[][] | null; usage: Amount; message?: string }
  | { type: 'ARBITER_RESULT'; record: CallRecord }
  | { type: 'MERGED'; record: CallRecord }
  | { type: 'CANCEL' };

/** What a session wants done; the workflow performs it. */
export type SessionEffect =
  /** Comes first where `elo_weights` is on; the lanes go out once RATINGS is there. */
  | { type: 'load_ratings'; personas: string[] }
  | { type: 'run_lanes'; group: string; lanes: string[] }
  /** Running lanes must ask again what they are to do. */
  | { type: 'direct_lanes' }
  | { type: 'score'; key: string }
  | { type: 'arbitrate' }
  | { type: 'merge_texts' };

export interface SessionStep {
  session: Session;
  effects: SessionEffect[];
  events: SessionDurableEvent[];
}
