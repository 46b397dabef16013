import type { Adapter } from '../../contracts/adapter.js';
import type { AuditEntry } from '../../contracts/audit.js';
import type { Locks, Role } from '../../contracts/debate.js';
import type { SandboxOptions, TaskReport, RollbackReport } from '../../contracts/execution.js';
import type { Finding } from '../../contracts/finding.js';
import type { GivenFeedback } from '../../contracts/feedback.js';
import type { MemoryContext, TraceRecord } from '../../contracts/memory.js';
import type { HealthCheck, Plan, Task } from '../../contracts/plan.js';
import type { Amount } from '../session/setup.js';
import type { TenantWaitEvent } from '../tenant-waits.js';
import type { RoleAnswer } from './statement.js';

export const askPurposes = ['statement', 'diagnosis', 'repair'] as const;
/** What a role is asked for: to speak in its round, to say why an execution failed, or to mend the plan. */
export type AskPurpose = (typeof askPurposes)[number];

/** One call of a role's agent. */
export interface Ask {
  role: Role;
  purpose: AskPurpose;
  /** 2: asked again, because the first answer could not be read. */
  attempt: 1 | 2;
  pass: number;
  personaId: string;
  adapter: Adapter;
  prompt: string;
  instructions: string;
  /** Calls of this agent that have ended before: a script plays on from there (spec 10 "scripted"). */
  callsBefore: number;
  timeoutMs: number;
  /** Of the time of the budget, and of that of healing, milliseconds; left out: it has no such limit. */
  leftMs?: number;
  /** Most tokens the answer may have, by what is left of the budget; null: no limit but the adapter's. */
  maxTokens: number | null;
}

/**
 * What a debate wants done; the workflow performs it. Each with an `id` is answered by one event with the same id, or by a
 * FAULT when it failed for good, and there is one of them at a time; `stop` asks for the early end of one.
 */
export type DebateEffect =
  | {
      type: 'verify_identity';
      id: number;
      workspace: string;
      locks: Locks;
      /** To be told before anybody is asked that no such sandbox is there. */
      sandbox: SandboxOptions;
      /** The request's own plan, to be scanned. */
      plan: Plan;
      /** To be scanned with it; left out: none is declared. */
      check?: HealthCheck;
    }
  | { type: 'load_context'; id: number; tenant: string; task: string; personas: string[]; topK: number }
  | ({ type: 'ask'; id: number } & Ask)
  | { type: 'take_snapshot'; id: number; workspace: string }
  | {
      type: 'run_task';
      id: number;
      workspace: string;
      sandbox: SandboxOptions;
      /** With what is left of the time of the budget as its time limit, where that is less than its own. */
      task: Task;
      round: number;
      /** Of the time of the budget, milliseconds; left out: it has no such limit. */
      leftMs?: number;
    }
  /** `task`: the health check, as the command that it is. */
  | {
      type: 'check_health';
      id: number;
      workspace: string;
      sandbox: SandboxOptions;
      task: Task;
      round: number;
      leftMs?: number;
    }
  | { type: 'undo_task'; id: number; workspace: string; sandbox: SandboxOptions; task: Task; round: number }
  | { type: 'restore_snapshot'; id: number; workspace: string; snapshot: string }
  | { type: 'store_trace'; id: number; trace: TraceRecord }
  | { type: 'mirror_trace'; id: number; trace: TraceRecord }
  | { type: 'audit'; id: number; entries: AuditEntry[] }
  /** Nothing is answered to these. */
  | { type: 'request_approval'; requestId: string }
  | { type: 'stop'; of: number };

/** What came of a call: the answer as it was read (`readAnswer`), or why there is none. */
export type AskOutcome =
  /** `findings`: of the static scan of the plan that it brought, by the worker; none where it brought none. */
  | { outcome: 'statement'; answer: RoleAnswer; findings: Finding[] }
  | { outcome: 'diagnosis'; diagnosis: string | null }
  | { outcome: 'repair'; plan: Plan; findings: Finding[] }
  /** An answer came that cannot be read; the role is asked once more with the faults. */
  | { outcome: 'unreadable'; faults: string[] }
  /** No answer came: the agent failed (its own code, and whether asking again can help), or took too long (ETIMEOUT). */
  | { outcome: 'failed'; code: string; message: string; retryable?: boolean };

/** How a command ended that is no task of the plan. */
export type CommandEnd = Pick<RollbackReport['undone'][number], 'outcome' | 'reason' | 'command'>;

/** What can happen to a debate, from outside the pure code. */
export type DebateEvent =
  | { type: 'START' }
  /** A fork goes on from its state: what is to be asked there is asked. */
  | { type: 'RESUME' }
  /** `workspace`: the real path; faults: locks that differ, a workspace or a sandbox that may not be used. */
  | {
      type: 'IDENTITY';
      id: number;
      workspace: string;
      faults: { code: string; message: string }[];
      /** Of the static scan of the request's own plan. */
      findings: Finding[];
    }
  | { type: 'CONTEXT'; id: number; context: MemoryContext; error: string | null }
  | { type: 'ANSWER'; id: number; outcome: AskOutcome; usage: Amount }
  /** An answer to a request for approval; whether it counts is decided here. */
  | { type: 'FEEDBACK'; given: GivenFeedback }
  | { type: 'TICK' }
  | { type: 'SNAPSHOT'; id: number; snapshot: string; digest: string }
  | { type: 'TASK'; id: number; report: TaskReport }
  | { type: 'HEALTH'; id: number; ended: CommandEnd }
  | { type: 'UNDONE'; id: number; undone: RollbackReport['undone'][number] }
  | { type: 'RESTORED'; id: number; digest: string; manual: string[] }
  | { type: 'STORED'; id: number }
  | { type: 'MIRRORED'; id: number; mongo: boolean; error: string | null }
  | { type: 'AUDITED'; id: number; seq: number; hash: string }
  | { type: 'CANCEL' }
  /** The call of a role waits for a person who answers for its tenant's budget; `call` is its id. */
  | TenantWaitEvent
  /** The effect with this id failed for good, retries included, or was stopped. `code` is stable where it is a ParleyError's. */
  | { type: 'FAULT'; id: number; code: string; message: string };
