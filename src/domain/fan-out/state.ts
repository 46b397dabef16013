import type {
  BarrierStatus,
  Combined,
  FanInScore,
  FanOutError,
  FanOutResult,
  FanOutStateName,
  Kept,
  WorkerArtifact,
  WorkerTaskState,
} from '../../contracts/fan-out-status.js';
import type { Json } from '../../contracts/frames.js';
import type { LedgerState } from '../ledger/state.js';
import type { HasTenantWaits } from '../tenant-waits.js';
import { openWorkAccount } from '../work-account.js';
import type { FanOutSetup } from './setup.js';

/** One task as it stands; times are epoch milliseconds. Small, as there may be thousands of them. */
export interface TaskRecord {
  state: WorkerTaskState;
  attempt: number;
  startedAt: number | null;
  endedAt: number | null;
  output: Json;
  kept: Kept | null;
  /** Left out: it left none. */
  artifacts?: WorkerArtifact[];
  /** Why not all that it left is there; left out: all is. */
  artifactsCut?: string;
  reason: { code: string; message: string; retryable?: boolean } | null;
  /** It ended after the barrier. */
  late: boolean;
  /** Number of the call that holds a part of the budget while it runs; null: none does. */
  call: number | null;
}

export interface FanOutWaiting {
  for: 'worker' | 'lane' | 'budget' | 'person';
  on: 'prepare' | 'tasks' | 'fan_in' | 'score' | 'held' | 'tenant_budget';
  since: number;
}

/** A whole fan-out as plain JSON: what continue-as-new carries and `snapshot` returns. */
export interface FanOutState extends HasTenantWaits {
  setup: FanOutSetup;
  state: FanOutStateName;
  startedAt: number;
  steppedAt: number;
  endedAt: number | null;
  prepared: boolean;
  tasks: TaskRecord[];
  /** Places of admitted tasks in the order in which they start, and how many of them have had their turn. */
  order: number[];
  turn: number;
  /** Places of completed tasks in the order of completion: first and last of fan-in. */
  completed: number[];
  /** Calls of each agent so far: a script plays on from there. */
  calls: Record<string, number>;
  /** The budget: what all calls have used, and what tasks that run hold. */
  ledger: LedgerState;
  /** When the barrier gives up; null: it does not wait yet. */
  deadlineAt: number | null;
  released: { at: number; by: NonNullable<BarrierStatus['released_by']> } | null;
  /** No task is started: what runs is let end, so that the run can continue as new. */
  held: boolean;
  fault: FanOutError | null;
  /** What is asked for once the budget holds it; left out: nothing is. */
  asking?: 'fan_in' | 'score';
  /** Number of the call that holds a part of the budget for the fan-in or its score; left out: none does. */
  fanInCall?: number;
  combined: Combined | null;
  score: FanInScore | null;
  waiting: FanOutWaiting | null;
  result: FanOutResult | null;
  error: FanOutError | null;
  dropped: number;
}

export const openFanOutState = (setup: FanOutSetup, now: number): FanOutState => ({
  setup,
  state: 'IDLE',
  startedAt: now,
  steppedAt: now,
  endedAt: null,
  prepared: false,
  tasks: setup.tasks.map(() => ({
    state: 'QUEUED',
    attempt: 0,
    startedAt: null,
    endedAt: null,
    output: null,
    kept: null,
    reason: null,
    late: false,
    call: null,
  })),
  order: [],
  turn: 0,
  completed: [],
  calls: {},
  ledger: openWorkAccount(setup.budget, now),
  deadlineAt: null,
  released: null,
  held: false,
  fault: null,
  combined: null,
  score: null,
  waiting: null,
  result: null,
  error: null,
  dropped: 0,
});
