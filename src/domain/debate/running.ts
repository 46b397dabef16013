import type { RollbackReport, TaskReport } from '../../contracts/execution.js';
import { iso } from '../instant.js';
import { timeRefusal } from '../work-account.js';
import type { CommandEnd } from './effects.js';
import { changeRepair } from './healing.js';
import { takeHealth } from './health.js';
import { type DebateDraft, say, want } from './draft.js';
import { lostReport, nextTask, openExecution, ranNothing, validated, withReport } from './execution.js';
import { nextUndo, openRollback, rollbackReport, withUndone } from './rollback.js';
import { inWords, vetoing } from './scan.js';
import type { CodedFault, DebateState, Pending } from './state.js';
import { timedTask } from './timed-task.js';
import type { Task } from '../../contracts/plan.js';

const workspaceOf = ({ workspace, setup }: DebateState): string => workspace ?? setup.workspace.path;

/** EXECUTING begins: the workspace is snapshotted before the first task; a plan without tasks needs none. */
export const beginExecution = (draft: DebateDraft): void => {
  const { debate } = draft;
  debate.execution ??= openExecution(debate.plan);
  const { snapshot, tasks, round, repairs } = debate.execution;
  // What is run was scanned when it was judged; a state that was carried elsewhere must not get around it. What newer rules
  // find, the runner refuses.
  const vetoes = vetoing(debate, round === 0 ? debate.findings : (repairs.at(-1)?.findings ?? []));
  if (vetoes.length > 0) {
    const message = `the scan of what is about to run vetoes it: ${inWords(vetoes)}`;
    debate.execution = { ...debate.execution, fault: { code: 'ESEC', message } };
    return;
  }
  if (tasks.length > 0 && isLate(draft)) return;
  if (snapshot !== null) runNext(draft);
  else if (tasks.length > 0) want(draft, { type: 'take_snapshot', workspace: workspaceOf(debate) });
};

export const takeSnapshot = (draft: DebateDraft, snapshot: { snapshot: string; digest: string }): void => {
  const { debate } = draft;
  if (!debate.execution) return;
  debate.execution = { ...debate.execution, snapshot };
  runNext(draft);
};

/** Once the time of the budget is over no task begins: what was done is taken back (spec 02 "budget gone"). */
const isLate = ({ debate }: DebateDraft): boolean => {
  const late = timeRefusal(debate.ledger, debate.steppedAt);
  if (late !== null && debate.execution) {
    debate.execution = { ...debate.execution, fault: { code: 'EBUDGET', message: late } };
  }
  return late !== null;
};

/** Starts the next task of the round, if there is one. */
const runNext = (draft: DebateDraft): void => {
  const { debate, now } = draft;
  const { execution, setup } = debate;
  const task = execution && nextTask(execution);
  if (!execution || !task || isLate(draft)) return;
  const { round } = execution;
  const timed = timedTask(debate, task);
  want(draft, { type: 'run_task', workspace: workspaceOf(debate), sandbox: setup.sandbox, ...timed, round });
  say(draft, { event: 'task', data: { at: iso(now), stage: 'started', task_id: task.task_id, round } });
};

/** A task has ended. While the debate is being rolled back its report still counts: what it did has to be undone too. */
export const takeReport = (draft: DebateDraft, report: TaskReport): void => {
  const { debate, now } = draft;
  const { execution } = debate;
  const task = execution?.tasks.find(({ task_id: id }) => id === report.task_id);
  if (!execution || !task) return;
  debate.execution = withReport(execution, task, { ...report, round: execution.round });
  say(draft, { event: 'task', data: { at: iso(now), stage: 'ended', report: { ...report, round: execution.round } } });
  if (debate.state === 'EXECUTING') runNext(draft);
  else beginUndoing(draft);
};

/** The health check has ended; one that was cancelled is waited for. */
export const takeCheck = (draft: DebateDraft, ended: CommandEnd): void => {
  takeHealth(draft, ended);
  if (draft.debate.state === 'ROLLING_BACK') beginUndoing(draft);
};

/** No worker can say what became of a task: it counts as failed, unless it was refused before it could run. */
export const loseTask = (draft: DebateDraft, task: Task, fault: CodedFault): void => {
  const { debate } = draft;
  const { execution } = debate;
  if (!execution) return;
  if (debate.state === 'EXECUTING') debate.execution = { ...execution, fault };
  if (!ranNothing(fault)) takeReport(draft, lostReport(task, execution.round, fault));
  else if (debate.state !== 'EXECUTING') beginUndoing(draft);
};

export const validate = (draft: DebateDraft): void => {
  const { debate } = draft;
  if (!debate.execution) return;
  debate.execution = validated(debate.execution);
  if (debate.execution.valid && debate.execution.repairs.at(-1)?.tasks) changeRepair(draft, { healed: true });
};

/** Whether a command runs in the workspace that changes what is there, or may. */
export const isCommand = (pending: Pending | null): boolean =>
  pending?.type === 'run_task' || pending?.type === 'check_health';

/** ROLLING_BACK begins. A command that still runs is waited for first: nothing is undone beside it. */
export const beginRollback = (draft: DebateDraft, why: string): void => {
  const { debate, now } = draft;
  if (debate.execution && debate.execution.valid === null) debate.execution = validated(debate.execution);
  say(draft, { event: 'rollback', data: { at: iso(now), stage: 'started', why, report: null } });
  if (!isCommand(debate.pending)) beginUndoing(draft);
};

const beginUndoing = (draft: DebateDraft): void => {
  const { debate } = draft;
  if (!debate.execution) return;
  debate.rollback = openRollback(debate.execution);
  undoNext(draft);
};

/** The undos one by one, the latest success first, then the workspace's snapshot (spec 02 "rollback"). */
const undoNext = (draft: DebateDraft): void => {
  const { debate } = draft;
  const { execution, rollback, setup } = debate;
  if (!execution || !rollback) return;
  const workspace = workspaceOf(debate);
  const undo = nextUndo(rollback);
  if (undo) want(draft, { type: 'undo_task', workspace, sandbox: setup.sandbox, ...undo });
  else if (execution.snapshot) {
    want(draft, { type: 'restore_snapshot', workspace, snapshot: execution.snapshot.snapshot });
  }
};

export const takeUndone = (draft: DebateDraft, undone: RollbackReport['undone'][number]): void => {
  const { debate } = draft;
  if (!debate.rollback) return;
  debate.rollback = withUndone(debate.rollback, undone);
  undoNext(draft);
};

export const takeRestored = (
  draft: DebateDraft,
  restored: { digest: string; manual: string[] } | { error: string },
): void => {
  const { debate } = draft;
  if (debate.rollback) debate.rollback = { ...debate.rollback, restored };
};

export const sayRolledBack = (draft: DebateDraft, why: string): void => {
  const { debate, now } = draft;
  say(draft, { event: 'rollback', data: { at: iso(now), stage: 'ended', why, report: rollbackReport(debate) } });
};
