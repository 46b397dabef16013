import type { Combined, FanInScore, Kept } from '../../contracts/fan-out-status.js';
import type { Json } from '../../contracts/frames.js';
import type { Amount } from '../session/setup.js';

/** What came of a worker: its answer, or where it is kept when it is large; a failure; or that it was stopped. */
export type WorkerOutcome =
  | { outcome: 'completed'; output: Json; kept: Kept | null }
  | { outcome: 'failed'; code: string; message: string }
  | { outcome: 'stopped' };

/** What a fan-out wants done. Tasks are named by their place in the setup; each is run at most once. */
export type FanOutEffect =
  | { type: 'prepare' }
  | { type: 'run_worker'; index: number; callsBefore: number; timeoutMs: number; maxTokens: number | null }
  /** `completed`: places of the tasks that take part, in the order of completion. */
  | { type: 'fan_in'; completed: number[]; maxTokens: number | null }
  | { type: 'score'; combined: Combined; maxTokens: number | null }
  /** Nothing is answered to this; what runs says itself how it ended. */
  | { type: 'stop' };

export type FanOutStage = 'prepare' | 'fan_in' | 'score';

export type FanOutEvent =
  | { type: 'START' }
  | { type: 'PREPARED' }
  | { type: 'WORKER'; index: number; outcome: WorkerOutcome; usage: Amount; attempt: number }
  | { type: 'COMBINED'; combined: Combined; usage: Amount }
  | { type: 'SCORED'; score: FanInScore; usage: Amount }
  | { type: 'TICK' }
  | { type: 'CANCEL' }
  | { type: 'FAULT'; of: FanOutStage; code: string; message: string };
