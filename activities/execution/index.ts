import type { Finding } from '../../src/contracts/finding.js';
import type { FileChange, TaskReport } from '../../src/contracts/execution.js';
import type { Task } from '../../src/contracts/plan.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { SandboxPort } from '../sandbox/port.js';
import { isFileError } from '../snapshot/folder.js';
import type { SnapshotPort } from '../snapshot/port.js';
import { unmetExpectations } from './expectations.js';
import type { CommandEnded, ExecutionPort, TaskInput } from './port.js';
import { executionName, Records } from './records.js';
import { endedCommand, ranReport, refusedCommand, refusedReport, type Ran } from './reports.js';
import { createTurns } from './turns.js';

export type { CommandEnded, ExecutionPort, TaskInput } from './port.js';

export interface ExecutionParts {
  sandbox: Pick<SandboxPort, 'run'>;
  snapshots: Pick<SnapshotPort, 'mark' | 'changes'>;
  /** What the runner refuses whoever planned it (details 2.5); `admissionFaults` of the security rules. */
  admission: (task: Task, workspace: string) => readonly Finding[];
  /** Where records of executions are kept, outside of every workspace. */
  folder: string;
  worker: {
    /** Names this process. */
    identity: string;
    /** Whether another worker still runs; null where nobody can tell, as with one in another container. */
    isRunning: (identity: string) => boolean | null;
  };
  /** Hears of what went wrong and did not stop anything. */
  onError: (error: unknown, what: string) => void;
}

/** How often a worker says that it still runs a command, and how long that holds. */
const touchMs = 5_000;
const heldMs = 30_000;

/** Executions on this machine. Each is done once; a record says how far it has come. */
export const createExecution = ({
  sandbox,
  snapshots,
  admission,
  folder,
  worker,
  onError,
}: ExecutionParts): ExecutionPort => {
  const records = new Records(folder);
  const inTurn = createTurns();

  /** A command that another worker runs must not be run beside it, however late that one's heartbeats are. */
  const isHeld = async (workId: string, name: string, owner: string): Promise<boolean> => {
    if (owner === worker.identity) return false; // in turn, so it has ended
    return worker.isRunning(owner) ?? (await records.age(workId, name)) < heldMs;
  };

  /** Runs a command unless it has been run. @returns its report, and which attempt that was */
  const runOnce = async (
    { workId, workspace, sandbox: options }: TaskInput,
    name: string,
    task: Task,
    signal: AbortSignal,
  ): Promise<Ran> => {
    const stage = await records.read(workId, name);
    if (stage?.stage === 'ran') return stage;
    if (stage?.stage === 'started' && (await isHeld(workId, name, stage.owner)))
      throw new ParleyError('conflict', `Task ${task.task_id} is being run by ${stage.owner}; wait for it to end.`, {
        retryable: true,
        retryAfterMs: touchMs,
      });
    const attempt = stage?.stage === 'started' ? stage.attempt + 1 : 1;
    await records.write(workId, name, { stage: 'started', attempt, owner: worker.identity });
    let ran: Ran;
    const touch = (): Promise<void> =>
      records.touch(workId, name).catch((error: unknown) => onError(error, 'a task could not be marked as running'));
    const touching = setInterval(() => void touch(), touchMs);
    try {
      ran = { attempt, command: await sandbox.run(workspace, options, task, signal) };
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      // The sandbox refuses before it starts anything.
      if (attempt === 1) await records.forget(workId, name);
      // The workspace has been looked at: what is wrong is the command itself, which a repair can mend.
      if (error.code !== 'invalid_request') throw error;
      return { attempt, command: null, fault: error.message };
    } finally {
      clearInterval(touching);
    }
    await records.write(workId, name, { stage: 'ran', ...ran });
    return ran;
  };

  /** What is no task of the plan: nobody asks which files it changed. */
  const runCommand = async (
    input: TaskInput,
    name: string,
    command: Task,
    signal: AbortSignal,
  ): Promise<CommandEnded> => {
    const { workId, workspace } = input;
    // One at a time of one piece of work: what ran before a restore is waited for.
    return await inTurn(workId, signal, async () => {
      const stage = await records.read<CommandEnded>(workId, name);
      if (stage?.stage === 'finished') return stage.report;
      const findings = admission(command, workspace);
      const report =
        findings.length > 0
          ? refusedCommand(command.task_id, findings)
          : endedCommand(command.task_id, await runOnce(input, name, command, signal));
      await records.write(workId, name, { stage: 'finished', report });
      return report;
    });
  };

  return {
    runTask: async (input, signal) => {
      const { workId, task, round, workspace, snapshotKey, epoch = 0 } = input;
      const name = executionName('run', round, task, epoch);
      // One at a time of one piece of work: what ran before a restore is waited for.
      return await inTurn(workId, signal, async () => {
        const stage = await records.read<TaskReport>(workId, name);
        if (stage?.stage === 'finished') return stage.report;
        const findings = admission(task, workspace);
        let report: TaskReport;
        if (findings.length > 0) report = refusedReport(input, findings);
        else {
          const since = await snapshots.mark(snapshotKey, workspace, name, signal);
          const ran = await runOnce(input, name, task, signal);
          const unmet = await unmetExpectations(workspace, task.expect.files, signal);
          const changed = await listChanges(() => snapshots.changes(snapshotKey, workspace, since, signal));
          report = ranReport(input, ran, unmet, changed);
        }
        await records.write(workId, name, { stage: 'finished', report });
        return report;
      });
    },

    undoTask: async (input, signal) => {
      const { task, round, epoch = 0 } = input;
      if (!task.undo) throw new ParleyError('invalid_request', `Task ${task.task_id} has no undo to run.`);
      const undo: Task = { ...task, ...task.undo, undo: undefined };
      return await runCommand(input, executionName('undo', round, task, epoch), undo, signal);
    },

    checkHealth: async (input, signal) => {
      const { task, round, epoch = 0 } = input;
      return await runCommand(input, executionName('check', round, task, epoch), task, signal);
    },

    remove: async (workId) => await records.remove(workId),
  };
};

/** What a task changed, or why nobody can say: a task can leave what cannot be read, and has run all the same. */
const listChanges = async (list: () => Promise<FileChange[]>): Promise<FileChange[] | string> => {
  try {
    return await list();
  } catch (error) {
    if ((error instanceof ParleyError && error.code === 'wrong_state') || isFileError(error))
      return `what it changed cannot be listed: ${(error as Error).message}`;
    throw error;
  }
};
