import type { NumberedEvent } from '../contracts/events.js';
import type { CheckpointMark, ForkOrigin, Restore } from './checkpoint.js';

/** What a run of any kind of work knows, as continue-as-new carries it: one plain JSON value (design "State"). */
export interface WorkState<Work, Event, Effect> {
  /** The pure machine's own state. */
  work: Work;
  inbox: Event[];
  /** What a run that goes on from a checkpoint does first: what was under way there, and what was wanted next. */
  resume?: Effect[];
  /** Every return to an earlier point; the last is this run's own while `isRestored`. */
  restores?: Restore[];
  /** How many returns there were; the list of them is cut. */
  epoch?: number;
  /** Set in the state that a restored run begins with: it says so, and the time in between does not count. */
  isRestored?: boolean;
  /** Set in the state that a fork begins with: what it was forked from, which it says. */
  forkedFrom?: ForkOrigin;
  /** Ids of the coordinators that are told where it stands. */
  watchers?: string[];
  events: NumberedEvent[];
  /** Number of the last durable event before this run, and the run that has it. */
  eventsBefore: number;
  previousRunId: string | null;
  /** The latest boundaries, over all runs; runs of before there were checkpoints carry none. */
  checkpoints?: CheckpointMark[];
}

export const openWork = <Work, Event, Effect>(work: Work, first: Event): WorkState<Work, Event, Effect> => ({
  work,
  inbox: [first],
  events: [],
  eventsBefore: 0,
  previousRunId: null,
});
