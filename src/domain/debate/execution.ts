import type { ExecutionReport, TaskReport } from '../../contracts/execution.js';
import type { Plan, Task } from '../../contracts/plan.js';
import { inOrder } from './plan.js';
import { commandsDigest } from './repair.js';
import { rollbackReport } from './rollback.js';
import type { CodedFault, DebateState, Execution } from './state.js';

export const openExecution = (plan: Plan): Execution => {
  const tasks = inOrder(plan.tasks);
  return {
    round: 0,
    tasks,
    done: [],
    reports: [],
    snapshot: null,
    tried: [commandsDigest(tasks)],
    repairs: [],
    valid: null,
    faults: [],
    fault: null,
  };
};

const ofRound = ({ reports, round }: Execution): TaskReport[] => reports.filter((report) => report.round === round);

/** The task that stopped this round, or null. The first failure stops it: what follows was meant for another state. */
export const failureIn = (execution: Execution): TaskReport | null =>
  ofRound(execution).find(({ outcome }) => outcome !== 'succeeded') ?? null;

/** Tasks of this round that have not been run, in order. */
export const openTasks = (execution: Execution): Task[] => {
  const run = new Set(ofRound(execution).map(({ task_id: id }) => id));
  return execution.tasks.filter(({ task_id: id }) => !run.has(id));
};

/** The task to run now; null: this round is over, by its end or by a failure. */
export const nextTask = (execution: Execution): Task | null =>
  failureIn(execution) ? null : (openTasks(execution)[0] ?? null);

/** The same with one more report; a task that succeeded goes on the undo stack. */
export const withReport = (execution: Execution, task: Task, report: TaskReport): Execution => ({
  ...execution,
  reports: [...execution.reports, report],
  done: report.outcome === 'succeeded' ? [...execution.done, { task, round: report.round }] : execution.done,
});

/** Codes with which a sandbox says that nothing has run: it is not allowed, is not there, or the task does not fit it. */
const refusedBefore = new Set(['ESEC', 'unavailable', 'invalid_request']);
export const ranNothing = ({ code }: CodedFault): boolean => refusedBefore.has(code);

/** Whether the execution ended before any task could be run: the decision was never put to the test. */
export const neverRan = ({ execution }: Pick<DebateState, 'execution'>): boolean =>
  execution !== null && execution.fault !== null && execution.reports.length === 0;

/** Whether it ends as if it had never been decided. */
export const aborts = (debate: Pick<DebateState, 'execution' | 'cancelled'>): boolean =>
  debate.cancelled || neverRan(debate);

/**
 * Whether people have answered what they were asked, or tasks have run: that is recorded also of a debate that is aborted (spec 08
 * "Approvals as evidence").
 */
export const leavesEvidence = ({
  approvals,
  execution,
  abortsUnrecorded,
}: Pick<DebateState, 'approvals' | 'execution' | 'abortsUnrecorded'>): boolean =>
  abortsUnrecorded !== true &&
  (approvals.some(({ answers }) => answers.length > 0) || (execution?.reports.length ?? 0) > 0);

/** What has been run, well or not, in any round: the repairs' tasks after those of the decided plan. */
export const tasksRun = ({ plan, execution }: Pick<DebateState, 'plan' | 'execution'>): Task[] => {
  const rounds = [plan.tasks, ...(execution?.repairs ?? []).map(({ tasks }) => tasks ?? [])];
  return (execution?.reports ?? []).flatMap(({ task_id: id, round }) => {
    const task = rounds[round]?.find((one) => one.task_id === id);
    return task ? [task] : [];
  });
};

/** What stands for a task that no worker could give a report of. */
export const lostReport = (task: Task, round: number, { code, message }: CodedFault): TaskReport => ({
  task_id: task.task_id,
  argv: task.argv,
  outcome: 'failed',
  reason: `${code}: ${message}`,
  command: null,
  files_changed: [],
  files_changed_count: 0,
  unmet: [],
  attempt: 1,
  round,
});

const notRun = (task: Task, round: number, why: string): TaskReport => ({
  ...lostReport(task, round, { code: '', message: '' }),
  outcome: 'not_run',
  reason: why,
});

/** Valid: at least one task, and all of them succeeded with what they declare (spec 02 "Validation", details 2.5). */
export const validated = (execution: Execution): Execution => {
  const { done, tasks, fault, repairs } = execution;
  const { givenUp = null, round = 0 } = repairs.at(-1) ?? {};
  const failure = failureIn(execution);
  const open = openTasks(execution).map(({ task_id: id }) => `task ${id} was not run`);
  const faults = [
    ...(done.length + tasks.length === 0 ? ['the plan has no tasks; a plan needs at least one'] : []),
    ...(failure ? [`task ${failure.task_id} ${failure.outcome}: ${failure.reason ?? 'no reason is known'}`] : []),
    ...(fault ? [`${fault.code}: ${fault.message}`] : []),
    ...(givenUp ? [`repair ${round} was given up: ${givenUp.message}`] : []),
    ...open,
  ];
  return { ...execution, faults, valid: faults.length === 0 };
};

/** The execution report of spec 10; null where nothing was to be executed. */
export const executionReport = (debate: DebateState): ExecutionReport | null => {
  const { execution } = debate;
  if (!execution) return null;
  const failure = failureIn(execution);
  const why = failure ? `task ${failure.task_id} ${failure.outcome} before it` : 'the execution was stopped before it';
  const isOver = execution.valid !== null || debate.rollback !== null || debate.endedAt !== null;
  return {
    tasks: [
      ...execution.reports,
      ...(isOver ? openTasks(execution).map((task) => notRun(task, execution.round, why)) : []),
    ],
    repairs: execution.repairs.filter(({ tasks, givenUp }) => tasks !== null && givenUp === null).length,
    diagnoses: execution.repairs.flatMap(({ diagnosis }) => (diagnosis === null ? [] : [diagnosis])),
    valid: execution.valid === true,
    faults: execution.faults,
    ...(execution.checks && { checks: execution.checks }),
    rollback: rollbackReport(debate),
  };
};
