import type { LaneState, SessionState } from '../contracts/session-status.js';

// The contracts' lists again as values: contracts import zod, which workflow code does not load. The types keep them equal.
const complete = <T extends string>(states: Record<T, true>): readonly T[] => Object.keys(states) as T[];

export const laneStates = complete<LaneState>({
  INIT: true,
  ADMITTED: true,
  REJECTED: true,
  STREAMING: true,
  PAUSED: true,
  FINALIZED: true,
  FAILED: true,
  CANCELLED: true,
});

export const sessionStates = complete<SessionState>({
  INIT: true,
  DISPATCHED: true,
  STREAMING: true,
  BUFFERING: true,
  PROVISIONAL: true,
  RECONCILING: true,
  DEADLINE: true,
  ARBITER: true,
  COMPLETE: true,
  ERROR: true,
  CANCELLED: true,
});
