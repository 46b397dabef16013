import type { RefusedFeedback } from '../../contracts/feedback.js';
import type { Json } from '../../contracts/frames.js';
import type { RunError, RunFeedback, RunResult, RunStateName, RunStepStateName } from '../../contracts/run-status.js';
import type { LedgerState } from '../ledger/state.js';
import type { Amount } from '../session/setup.js';
import { openWorkAccount } from '../work-account.js';
import type { RunPending, StepFault } from './effects.js';
import type { RunSetup, StepSetup } from './setup.js';

/** One try of a step; times in epoch milliseconds. */
export interface AttemptRecord {
  attempt: number;
  /** The piece of work that it is; null: a command, or not begun yet. */
  workId: string | null;
  /** null: it is under way. */
  outcome: 'completed' | 'failed' | 'cancelled' | null;
  error: StepFault | null;
  /** The changes that were asked of this try. */
  comment: string | null;
  usage: Amount;
  startedAt: number;
  endedAt: number | null;
}

export interface StepRecord {
  state: RunStepStateName;
  attempts: AttemptRecord[];
  /** Changes that were asked for, in order: each later try is told all of them. */
  comments: string[];
  /** Of the latest try that completed, or the answer to a gate. */
  output: Json;
}

/** A whole run as plain JSON: what continue-as-new carries, and `snapshot` returns. */
export interface RunState {
  setup: RunSetup;
  state: RunStateName;
  startedAt: number;
  endedAt: number | null;
  /** Where the run works; null: it is not prepared yet. */
  workspace: { path: string; branch: string | null } | null;
  /** Index of the present step, over all phases. */
  position: number;
  steps: StepRecord[];
  /** The budget: what all tries that have ended used. One is under way at a time, and has what is left for its own limits. */
  ledger: LedgerState;
  /** Every request, the open one last. */
  feedback: RunFeedback[];
  pending: RunPending | null;
  /** Effects so far; the next one's id is one more. */
  effects: number;
  /** A cancel was asked for, by whom is known to Temporal alone. */
  cancelled: boolean;
  /** Of what it waits for, and since when. */
  waiting: { on: string; since: number } | null;
  result: RunResult | null;
  error: RunError | null;
  /** Events that came where nothing takes them. */
  dropped: number;
  /** When it last took an event, where time is a limit of its budget; left out: it is none. */
  steppedAt?: number;
  /** The effect that was ended as the time of the budget was over; left out: none was. */
  outOfTime?: number;
  /** The latest answers that came before anybody had been asked anything; left out: none has. */
  unasked?: RefusedFeedback[];
  /** Its end is decided, and what it leaves is not in its place yet. */
  isClosing?: true;
  /** Of a fork: the run whose folder its own begins as a copy of, and the branch of that one's worktree. */
  folderOf?: FolderOrigin;
  /** Of a fork: its first step has been done, or has failed, and people are asked about it before anything is done. */
  asksFirst?: { fault: StepFault | null };
}

export interface FolderOrigin {
  runId: string;
  branch: string | null;
}

export const openRunState = (setup: RunSetup, now: number): RunState => ({
  setup,
  state: 'pending',
  startedAt: now,
  endedAt: null,
  workspace: null,
  position: 0,
  steps: setup.steps.map(() => ({ state: 'pending', attempts: [], comments: [], output: null })),
  ledger: openWorkAccount(setup.budget, now),
  feedback: [],
  pending: null,
  effects: 0,
  cancelled: false,
  waiting: null,
  result: null,
  error: null,
  dropped: 0,
});

type Placed = Pick<RunState, 'setup' | 'steps' | 'position'>;

/** The present step. */
export const currentStep = ({ setup, position }: Placed): StepSetup => {
  const step = setup.steps[position];
  if (!step) throw new RangeError(`run ${setup.id} has no step ${position}`);
  return step;
};

export const currentRecord = ({ setup, steps, position }: Placed): StepRecord => {
  const record = steps[position];
  if (!record) throw new RangeError(`run ${setup.id} has no step ${position}`);
  return record;
};

/** What people call a step. */
export const stepName = ({ phase, name }: Pick<StepSetup, 'phase' | 'name'>): string => `${phase} -> ${name}`;

/** The step that a request for changes does again: the present one, and where that only asks, the nearest one before it. */
export const redonePosition = ({ setup, position }: Placed): number | null => {
  for (let at = position; at >= 0; at -= 1) if (setup.steps[at]?.work.kind !== 'gate') return at;
  return null;
};

/** The request that people are asked at the moment, or null. */
export const openRequest = ({ feedback }: Pick<RunState, 'feedback'>): RunFeedback | null => {
  const latest = feedback.at(-1);
  return latest?.state === 'open' ? latest : null;
};
