import type { Role } from '../../contracts/debate.js';
import type {
  AuditReference,
  DebateError,
  DebateResult,
  DebateStateName,
  Decision,
  Duel,
  Issue,
  Statement,
  Vote,
} from '../../contracts/debate-status.js';
import type { HealthReport, RollbackReport, TaskReport } from '../../contracts/execution.js';
import type { Approval } from '../../contracts/feedback.js';
import type { Finding } from '../../contracts/finding.js';
import type { MemoryContext, MemoryReport, Tag } from '../../contracts/memory.js';
import type { Plan, Task } from '../../contracts/plan.js';
import { noAmount } from '../budget.js';
import type { LedgerState } from '../ledger/state.js';
import type { Amount } from '../session/setup.js';
import type { HasTenantWaits } from '../tenant-waits.js';
import { openWorkAccount } from '../work-account.js';
import type { DebateEffect } from './effects.js';
import type { DebateSetup } from './setup.js';

/** A fault that ended something, with its stable code. */
export interface CodedFault {
  code: string;
  message: string;
  /** Of an agent: whether asking again can help; left out: that is not known. */
  retryable?: boolean;
}

/** One thing a role said; money in millionths, times in epoch milliseconds. */
export interface StatementRecord extends Omit<Statement, 'usage' | 'at'> {
  usage: Amount;
  at: number;
}

/** What a role's call has come to before its statement is made: its first try, when that could not be read. */
export interface FirstTry {
  faults: string[];
  usage: Amount;
}

/** An effect under way; its answer carries the same id. */
export type Pending = Extract<DebateEffect, { id: number }>;

export interface RepairRecord {
  round: number;
  failedTask: string;
  diagnosis: string | null;
  tasks: Task[] | null;
  findings: Finding[];
  healed: boolean;
  givenUp: { because: GaveUp; message: string } | null;
}
export type GaveUp = 'no_diagnosis' | 'no_repair' | 'same_commands' | 'veto' | 'budget' | 'rejected' | 'cancelled';

/** A task that has succeeded, and the round in which it did. */
export interface DoneTask {
  task: Task;
  round: number;
}

export interface Execution {
  /** 0 for the decided plan, n for the n-th repair. */
  round: number;
  /** The tasks of this round, in the order they run in; those that have succeeded before it are not among them. */
  tasks: Task[];
  /** In order of success, over all rounds: the undo stack. */
  done: DoneTask[];
  reports: TaskReport[];
  /** What the health check said after a failure, in order; left out: it was never run. */
  checks?: HealthReport[];
  snapshot: { snapshot: string; digest: string } | null;
  /** sha256 of the commands of every plan that was tried, so that none is tried twice. */
  tried: string[];
  repairs: RepairRecord[];
  /** Set by validation: whether every task succeeded and there was one, and why not. */
  valid: boolean | null;
  faults: string[];
  /** What ended it that no repair can mend: the sandbox, a snapshot, a worker. */
  fault: CodedFault | null;
}

/** A rollback under way: what is still to undo, from the end. */
export interface Rollback {
  left: DoneTask[];
  undone: RollbackReport['undone'];
  restored: { digest: string; manual: string[] } | { error: string } | null;
}

/** A whole debate as plain JSON: what continue-as-new carries, `snapshot` returns and a fork would start from. */
export interface DebateState extends HasTenantWaits {
  setup: DebateSetup;
  /** How often it went back to an earlier point; none: never. What comes of it then is remembered and audited as well. */
  epoch?: number;
  state: DebateStateName;
  startedAt: number;
  /** When it last took an event. */
  steppedAt: number;
  endedAt: number | null;
  /** What the identity guard said: none is fine. */
  identity: { faults: CodedFault[] } | null;
  /** The workspace as the worker resolved it; null: not known yet. */
  workspace: string | null;
  context: MemoryContext | null;
  tags: Tag[];
  /** From 1; 0: nobody has been asked yet. */
  pass: number;
  refinements: number;
  /** The solution's latest, else the request's (spec 02 "Context"). */
  plan: Plan;
  /**
   * What the static rules found in `plan`, as the worker that scanned it said: rules that are new since then change nothing
   * that was decided, here or in a replay.
   */
  findings: Finding[];
  /** 0: the request's; null: there is none. */
  planFromPass: number | null;
  statements: StatementRecord[];
  /** Set while the role that speaks is asked a second time. */
  firstTry: FirstTry | null;
  votes: Vote[];
  consensus: number;
  duels: Duel[];
  decision: { decision: Decision; why: string } | null;
  /** Every request for approval, the latest last. */
  approvals: Approval[];
  /** The comment that the present pass has to answer, of a request for changes. */
  comment: { by: string; text: string; pass: number } | null;
  execution: Execution | null;
  rollback: Rollback | null;
  /** When the diagnosis was first asked for, of the healing that is under way or was last; left out: of none. */
  healingSince?: number;
  /** Calls of each role that have ended. */
  calls: Record<Role, number>;
  usage: Record<Role, Amount>;
  /** The budget: what all roles have used, and what the call under way holds. */
  ledger: LedgerState;
  /** Who could not speak for want of budget, in order. */
  unheard: string[];
  pending: Pending | null;
  /** Effects so far; the next one's id is one more. */
  effects: number;
  cancelled: boolean;
  /** It ended at a time when what was aborted left no record; left out: it leaves one. */
  abortsUnrecorded?: true;
  memory: MemoryReport | null;
  /** Whether SQLite has the trace, so that what is left is the mirror. */
  stored: boolean;
  audit: AuditReference | 'failed' | null;
  /** What did not work and did not stop it. */
  notes: string[];
  waiting: DebateWaiting | null;
  result: DebateResult | null;
  error: DebateError | null;
  /** Events that came where nothing takes them (details 6.4). */
  dropped: number;
}

/**
 * What a debate is remembered under, 32 hex digits: the trace that its calls are in; after the n-th restore with n in place of
 * its last four digits, as what came of it before stays remembered.
 */
export const memoryIdOf = ({ setup, epoch = 0 }: Pick<DebateState, 'setup' | 'epoch'>): string =>
  epoch === 0 ? setup.traceId : setup.traceId.slice(0, -4) + epoch.toString(16).padStart(4, '0').slice(-4);

/** What a debate waits for, without the words (spec 08 "waiting"). */
export interface DebateWaiting {
  for: 'person' | 'lane' | 'worker';
  on: Pending['type'] | 'approval' | 'tenant_budget';
  /** Of the effect under way, or how many approvals have been asked for. */
  id: number;
  since: number;
}

const perRole = <T>(value: T): Record<Role, T> => ({
  analyst: value,
  solution: value,
  critic: value,
  security: value,
  optimizer: value,
});

export const openDebateState = (setup: DebateSetup, now: number): DebateState => ({
  setup,
  state: 'IDLE',
  startedAt: now,
  steppedAt: now,
  endedAt: null,
  identity: null,
  workspace: null,
  context: null,
  tags: [],
  pass: 0,
  refinements: 0,
  plan: setup.plan,
  findings: [],
  planFromPass: setup.plan.tasks.length > 0 ? 0 : null,
  statements: [],
  firstTry: null,
  votes: [],
  consensus: 0,
  duels: [],
  decision: null,
  approvals: [],
  comment: null,
  execution: null,
  rollback: null,
  calls: perRole(0),
  usage: perRole(noAmount),
  ledger: openWorkAccount(setup.budget, now),
  unheard: [],
  pending: null,
  effects: 0,
  cancelled: false,
  memory: null,
  stored: false,
  audit: null,
  notes: [],
  waiting: null,
  result: null,
  error: null,
  dropped: 0,
});

export type { Issue };
