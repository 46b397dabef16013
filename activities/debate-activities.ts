import { ApplicationFailure } from '@temporalio/common';
import type { AuditEntry, AuditReceipt } from '../src/contracts/audit.js';
import type { Locks } from '../src/contracts/debate.js';
import type { SandboxOptions, TaskReport } from '../src/contracts/execution.js';
import type {
  ContextQuery,
  LoadedContext,
  MemoryPort,
  MirrorPort,
  RatingTable,
  Stored,
  TraceRecord,
} from '../src/contracts/memory.js';
import type { Finding } from '../src/contracts/finding.js';
import type { HealthCheck, Plan } from '../src/contracts/plan.js';
import { ParleyError } from '../src/domain/errors.js';
import { scanPlan } from '../src/domain/security-rules/index.js';
import { askRole, type AskedRole, type AskRoleInput } from './ask-role.js';
import type { AuditPort } from './audit/port.js';
import type { CommandEnded, ExecutionPort, TaskInput } from './execution/port.js';
import { identityFaults } from './identity.js';
import { createMemoryActivities, type Mirrored } from './memory/activities.js';
import type { OnError } from './memory/embedder.js';
import type { SandboxPort } from './sandbox/port.js';
import type { Snapshot, SnapshotPort } from './snapshot/port.js';
import type { ToldCallPorts } from './told-call.js';
import { holdWorkspace, WorkspaceHolds } from './workspace-holds.js';
import { resolveWorkspace, type WorkspaceRules } from './workspace.js';
import { told } from './told.js';

export interface DebatePorts extends ToldCallPorts {
  environment: Readonly<Record<string, string | undefined>>;
  workspaces: WorkspaceRules;
  sandbox: SandboxPort;
  snapshots: SnapshotPort;
  execution: ExecutionPort;
  memory: MemoryPort;
  /** null: no shared memory is configured. */
  mirror: MirrorPort | null;
  audit: AuditPort;
  /** Hears of what went wrong and did not stop anything. */
  onError: OnError;
  /** The queue that only workers with this one's folders take from: workspaces, snapshots and records are theirs. */
  hostQueue: string;
}

export interface VerifyInput {
  workspace: string;
  locks: Locks;
  sandbox: SandboxOptions;
  /** The request's own plan. */
  plan: Plan;
  /** The health check, to be scanned with it; left out: none is declared. */
  check?: HealthCheck;
  /** The run whose folder the workspace is; left out: it is none. */
  ofRun?: string;
}

export interface Verified {
  /** With every link followed; as given where it may not be used. */
  workspace: string;
  faults: { code: string; message: string }[];
  /** Of the static scan of the plan. */
  findings: Finding[];
  /** Where everything that touches the workspace has to run from here on. */
  hostQueue: string;
}

/** Where a snapshot of a debate's workspace is kept, and of what. */
export interface WorkspaceInput {
  workId: string;
  workspace: string;
}

/**
 * What debates have done (spec 02). Each is safe to repeat: finished tasks, snapshots, traces and records are kept by key.
 * A ParleyError goes to the workflow as it is; anything else is tried again.
 */
export const createDebateActivities = (ports: DebatePorts) => {
  const { environment, workspaces, sandbox, snapshots, execution, audit, hostQueue } = ports;
  const holds = new WorkspaceHolds(workspaces.dataFolder);
  const memories = createMemoryActivities(ports);
  return {
    /** The identity guard, and whether the workspace and the sandbox may be used at all, before anybody is asked. */
    verifyIdentity: async ({
      workspace,
      locks,
      sandbox: options,
      plan,
      check: declared,
      ofRun,
    }: VerifyInput): Promise<Verified> => {
      const mismatches = identityFaults(locks, environment);
      if (mismatches.length > 0) {
        return {
          workspace,
          faults: mismatches.map(({ message }) => ({ code: 'ESEC', message })),
          findings: [],
          hostQueue,
        };
      }
      const faults: Verified['faults'] = [];
      const check = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof ParleyError)) throw error;
          faults.push({ code: error.code, message: error.message });
          return otherwise;
        }
      };
      const resolved = await check(() => resolveWorkspace(workspace, workspaces, ofRun), workspace);
      await check(() => sandbox.choose(options), null);
      return { workspace: resolved, faults, findings: scanPlan(plan, resolved, { check: declared }), hostQueue };
    },

    loadContext: (query: ContextQuery): Promise<LoadedContext> => told((signal) => memories.loadContext(query, signal)),

    /** For sessions with `elo_weights`: the personas' ratings, 1200 for one without a match. */
    loadRatings: (input: { tenant: string; personas: string[] }): Promise<RatingTable> =>
      told((signal) => memories.loadRatings(input, signal)),

    askRole: (input: AskRoleInput): Promise<AskedRole> => askRole(input, ports),

    /** Nothing else changes the workspace from here on, until it is forgotten or the work has ended. */
    takeSnapshot: ({ workId, workspace }: WorkspaceInput): Promise<Snapshot> =>
      told(async (signal) => {
        await holdWorkspace(holds, { workId, folder: workspace });
        return await snapshots.take(workId, workspace, signal);
      }),

    runTask: (input: TaskInput): Promise<TaskReport> => told((signal) => execution.runTask(input, signal)),

    /** `task`: the health check as a command. */
    checkHealth: (input: TaskInput): Promise<CommandEnded> => told((signal) => execution.checkHealth(input, signal)),

    undoTask: (input: TaskInput): Promise<CommandEnded> => told((signal) => execution.undoTask(input, signal)),

    restoreSnapshot: ({
      workId,
      workspace,
      snapshot,
    }: WorkspaceInput & { snapshot: string }): Promise<{ digest: string; manual: string[] }> =>
      told((signal) => snapshots.restore(workId, workspace, snapshot, signal)),

    storeTrace: (trace: TraceRecord): Promise<Stored> => told((signal) => memories.storeTrace(trace, signal)),

    /** @returns mongo: false where none is configured */
    mirrorTrace: (trace: TraceRecord): Promise<Mirrored> => told((signal) => memories.mirrorTrace(trace, signal)),

    /** @returns where the last entry stands */
    appendAudit: (entries: AuditEntry[]): Promise<AuditReceipt> =>
      told(async (signal) => {
        const receipts = await audit.append(entries, signal);
        const last = receipts.at(-1);
        if (!last) throw ApplicationFailure.nonRetryable('there is nothing to record');
        return last;
      }),

    /** What a debate leaves on this machine and nobody needs once it has ended: its snapshot and its tasks' reports. */
    forgetWorkspace: (workId: string): Promise<void> =>
      told(async () => {
        await snapshots.remove(workId);
        await execution.remove(workId);
        holds.release(workId);
      }),
  };
};
export type DebateActivities = ReturnType<typeof createDebateActivities>;
