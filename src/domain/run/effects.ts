import type { GivenFeedback } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { Amount } from '../session/setup.js';
import type { RunWorkspace } from './setup.js';
import type { FolderOrigin } from './state.js';

/** Why a step failed for good, as a person is told. */
export interface StepFault {
  code: string;
  message: string;
  /** Whether doing it again can help. */
  retryable: boolean;
}

/** How a try of a step ended. */
export type StepOutcome =
  | { outcome: 'completed'; output: Json; usage: Amount }
  | { outcome: 'failed'; fault: StepFault; usage: Amount }
  /** It was stopped because the run is cancelled. */
  | { outcome: 'stopped'; usage: Amount };

/** What a run wants done: one thing at a time, answered by an event with its id; `stop` asks for its early end. */
export type RunEffect =
  | { type: 'prepare_workspace'; id: number; workspace: RunWorkspace; origin?: FolderOrigin }
  /** What the step does, in this try, is told by `stepWork`. */
  | { type: 'run_step'; id: number; position: number; attempt: number }
  | { type: 'stop'; of: number }
  /** The same for work that a step has started: it ends as when it is cancelled, and says what it has used. */
  | { type: 'end_work'; workId: string };

/** An effect under way. */
export type RunPending = Extract<RunEffect, { id: number }>;

/** What can happen to a run, from outside the pure code. */
export type RunEvent =
  | { type: 'START' }
  | { type: 'PREPARED'; id: number; path: string; branch: string | null }
  | { type: 'UNPREPARED'; id: number; fault: StepFault }
  /** The try has begun, as a piece of work with an id of its own. */
  | { type: 'BEGUN'; id: number; workId: string }
  /** `waitedMs`: how long work with a time of its own has waited for persons; left out: it has none. */
  | { type: 'STEP'; id: number; outcome: StepOutcome; waitedMs?: number }
  | { type: 'FEEDBACK'; given: GivenFeedback }
  | { type: 'TICK' }
  | { type: 'CANCEL' };
