import { join } from 'node:path';
import {
  createExecution,
  type ExecutionParts,
  type ExecutionPort,
  type TaskInput,
} from '../../../activities/execution/index.js';
import { createSnapshots } from '../../../activities/snapshot/index.js';
import { taskSchema, type Task } from '../../../src/contracts/plan.js';
import { admissionFaults } from '../../../src/domain/security-rules/index.js';
import { sandboxOf } from '../sandbox/rig.js';
import { createRoom, type Room } from '../snapshot/room.js';

/** A task that is a line of shell, and what else it says. */
export const shellTask = (line: string, given: object = {}): Task =>
  taskSchema.parse({ task_id: 't1', argv: ['sh', '-c', line], ...given });

/** One for all: it tries out once what it can do. */
export const sandbox = sandboxOf();

/** Real commands, files and records. `none` runs commands as they are: sandboxes have tests of their own. */
export const createRig = (parts: Partial<ExecutionParts> = {}, room: Room = createRoom()) => {
  const execution: ExecutionPort = createExecution({
    sandbox,
    snapshots: createSnapshots(join(room.data, 'snapshots')),
    admission: admissionFaults,
    folder: join(room.data, 'executions'),
    worker: { identity: 'worker-1', isRunning: (identity) => identity === 'worker-1' },
    onError: (error) => {
      throw error;
    },
    ...parts,
  });
  const inputOf = (task: Task, given: Partial<TaskInput> = {}): TaskInput => ({
    workId: 'work',
    task,
    round: 0,
    workspace: room.workspace,
    sandbox: { backend: 'none', network: false },
    snapshotKey: 'work',
    ...given,
  });
  const signal = new AbortController().signal;
  return {
    ...room,
    execution,
    inputOf,
    run: async (task: Task, given: Partial<TaskInput> = {}, until: AbortSignal = signal) =>
      await execution.runTask(inputOf(task, given), until),
    check: async (task: Task, given: Partial<TaskInput> = {}) =>
      await execution.checkHealth(inputOf(task, given), signal),
    undo: async (task: Task, given: Partial<TaskInput> = {}) => await execution.undoTask(inputOf(task, given), signal),
  };
};
