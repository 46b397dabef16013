import type { RollbackReport, SandboxOptions, TaskReport } from '../../src/contracts/execution.js';
import type { Task } from '../../src/contracts/plan.js';

export interface TaskInput {
  workId: string;
  task: Task;
  /** 0 for the decided plan, n for the n-th repair; with the work's and the task's id it is the key of the execution. */
  round: number;
  /** What `resolveWorkspace` answered. */
  workspace: string;
  sandbox: SandboxOptions;
  /** The key that the workspace's snapshot was taken under. */
  snapshotKey: string;
  /** How often the work went back to an earlier point: a task that is run again after that is another execution. Default: 0. */
  epoch?: number;
}

/** How a command ended that is no task of the plan: an undo, or the health check. */
export type CommandEnded = RollbackReport['undone'][number];

/** Runs the tasks of plans, each of them once (spec 02 "Execution"). */
export interface ExecutionPort {
  /**
   * Admits, runs and checks one task. What is wrong with the task, or what it does wrong, stands in the report. A repeated call for a finished task is
   * answered with its report; for one that a dead worker had started it runs again, and `attempt` says so.
   * @throws ParleyError `ESEC` or `unavailable` when there is no sandbox for it, so that nothing has run; the signal's reason
   * when it was aborted
   */
  runTask(input: TaskInput, signal: AbortSignal): Promise<TaskReport>;

  /** Runs the task's `undo` in the same way. @throws as `runTask`, and `invalid_request` when the task has none */
  undoTask(input: TaskInput, signal: AbortSignal): Promise<CommandEnded>;

  /** Runs a health check in the same way: it has succeeded where it ended with exit code 0. @throws as `runTask` */
  checkHealth(input: TaskInput, signal: AbortSignal): Promise<CommandEnded>;

  /** Forgets the reports of a piece of work that has ended. */
  remove(workId: string): Promise<void>;
}
