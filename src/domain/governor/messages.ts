import type { GovernorEvent, Refusal } from './hear.js';
import { newGovernor, type GovernorSettings, type GovernorState } from './state.js';

export const governorWorkflowType = 'governor';

/** One for each provider and task queue. No piece of work can have such an id: theirs have no ":". */
export const governorId = (taskQueue: string, provider: string): string => `governor:${taskQueue}:${provider}`;

/** What a worker says at a time. */
export interface GovernorSaid {
  worker: string;
  events: GovernorEvent[];
  /** What its operator wants kept to; told when a worker begins, and once more whenever it cannot know what was heard. */
  settings?: GovernorSettings;
}

/** A call that may be made, and for how long it may wait to be sent, as of the answer. */
export interface GrantTold {
  id: string;
  leftMs: number;
}

/** What a worker that waits is told. */
export interface GovernorAnswer {
  /** The run that answers: another one knows what is queued and granted, but not what it has told of that. */
  runId: string;
  granted: GrantTold[];
  refused: Refusal[];
  /** For how long the answer was held back. */
  heldMs: number;
  /** How long to wait before asking again, as too many wait at a time; 0: no time. */
  waitMs: number;
}

/** What one run of a governor hands to the next. */
export interface GovernorCarried {
  governor: GovernorState;
  /** When each worker was last heard of, epoch milliseconds. */
  heard: Record<string, number>;
}

export interface GovernorStart {
  settings: GovernorSettings;
  /** Until when nothing is granted, epoch milliseconds: what went out under a governor that was ended from outside is not known. */
  pausedUntil: number;
  carried?: GovernorCarried;
}

export const beginGovernor = ({ settings, pausedUntil, carried }: GovernorStart): GovernorCarried => {
  if (carried) return carried;
  const governor = newGovernor(settings);
  const pools = governor.pools.map((pool) => (pool.model === null ? { ...pool, pausedUntil } : pool));
  return { governor: { ...governor, pools }, heard: {} };
};
