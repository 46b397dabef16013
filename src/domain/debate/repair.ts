import type { Plan, Task } from '../../contracts/plan.js';
import { canonicalJson, digestOf } from '../canonical-json.js';
import { inOrder, planFaults } from './plan.js';
import type { Execution } from './state.js';

const commandOf = ({ argv, cwd, env, stdin }: Task): object => ({ argv, cwd, env, stdin });

const isSameCommand = (a: Task, b: Task): boolean => canonicalJson(commandOf(a)) === canonicalJson(commandOf(b));

/** Names what a list of tasks would do: two plans with equal commands in the same order have the same digest. */
export const commandsDigest = (tasks: readonly Task[]): string => digestOf(tasks.map(commandOf));

/**
 * What a repair puts in place of the failed task and what follows (details 2.5): its tasks in the order they run in, without
 * those that have succeeded already, which are never run again.
 * @returns every fault where it cannot be used
 */
export const replacement = (execution: Execution, plan: Plan): { tasks: Task[] } | { faults: string[] } => {
  const done = new Map(execution.done.map(({ task }) => [task.task_id, task]));
  const faults = planFaults(plan, [...done.keys()]).map(({ path, message }) => `${path.join('.')} ${message}`);
  for (const task of plan.tasks) {
    const before = done.get(task.task_id);
    if (!before || isSameCommand(before, task)) continue;
    faults.push(
      `task "${task.task_id}" has succeeded and is not run again; leave it out, or give the other command another id`,
    );
  }
  const left = plan.tasks.filter(({ task_id: id }) => !done.has(id));
  if (left.length === 0) faults.push('the repair has no task to run; give what replaces the failed task');
  return faults.length > 0 ? { faults } : { tasks: inOrder(left) };
};

/** The execution's plan with the replacement in it, as commands: what has been done, then what is to be done. */
export const repairedDigest = ({ done }: Execution, tasks: readonly Task[]): string =>
  commandsDigest([...done.map(({ task }) => task), ...tasks]);
