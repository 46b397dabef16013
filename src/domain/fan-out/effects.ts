import type { Combined, FanInScore, Kept, WorkerArtifact } from '../../contracts/fan-out-status.js';
import type { Json } from '../../contracts/frames.js';
import type { AmountLeft } from '../budget.js';
import type { Amount } from '../session/setup.js';
import type { TenantWaitEvent } from '../tenant-waits.js';

/** What came of a worker: its answer, or where it is kept when it is large; a failure; or that it was stopped. */
export type WorkerOutcome =
  | { outcome: 'completed'; output: Json; kept: Kept | null }
  /** `retryable`: whether asking it again can help; left out: that is not known. */
  | { outcome: 'failed'; code: string; message: string; retryable?: boolean }
  | { outcome: 'stopped' };

/** What a worker left in output/ of its namespace, as far as it was kept. */
export interface LeftFiles {
  artifacts: WorkerArtifact[];
  /** Why not all of it was kept; null: all was. */
  cut: string | null;
}

/** How one worker ended. */
export interface WorkerEnd {
  outcome: WorkerOutcome;
  usage: Amount;
  /** Above 1: a worker process died in those before. */
  attempt: number;
  /** Left out: nothing was left. */
  left?: LeftFiles;
}

/** Limits of who decides or scores; `timeoutMs` left out: that of all such calls. */
interface FanInLimits {
  maxTokens: number | null;
  timeoutMs?: number;
}

/** What a fan-out wants done. Tasks are named by their place in the setup; each is run at most once. */
export type FanOutEffect =
  | { type: 'prepare' }
  | { type: 'run_worker'; index: number; callsBefore: number; timeoutMs: number; maxTokens: number | null }
  /** `completed`: places of the tasks that take part, in the order of completion; `refused`: why the orchestrator is not asked. */
  | ({ type: 'fan_in'; completed: number[]; refused?: string } & FanInLimits)
  /** `left` of the budget, with which the critic may be asked once more; left out: it has no limit that matters. */
  | ({ type: 'score'; combined: Combined; left?: AmountLeft } & FanInLimits)
  /** Nothing is answered to this; what runs says itself how it ended. */
  | { type: 'stop' };

export type FanOutStage = 'prepare' | 'fan_in' | 'score';

/** Names a call among those of its fan-out. */
export const callName = (effect: Exclude<FanOutEffect, { type: 'stop' }>): string =>
  effect.type === 'run_worker' ? `task ${effect.index}` : effect.type;

export type FanOutEvent =
  | { type: 'START' }
  | { type: 'PREPARED' }
  | ({ type: 'WORKER'; index: number } & WorkerEnd)
  | { type: 'COMBINED'; combined: Combined; usage: Amount }
  | { type: 'SCORED'; score: FanInScore; usage: Amount }
  | { type: 'TICK' }
  | { type: 'CANCEL' }
  /** A call waits for a person who answers for its tenant's budget; `call` is as `callName` has it. */
  | TenantWaitEvent
  | { type: 'FAULT'; of: FanOutStage; code: string; message: string };
