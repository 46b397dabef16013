import type { Finding } from '../../contracts/finding.js';
import type { HealthCheck, Plan, Task } from '../../contracts/plan.js';
import { checkTask } from '../debate/health-check.js';
import { scan } from './scan.js';

export type { Rule } from './rule.js';
export { rules } from './scan.js';

/**
 * The static rule scan of spec 02 "Decision": what the commands of a plan would do that no plan may. Nothing is run, no file is
 * read; the same plan has the same findings, in the order of its tasks, the most confident of each task first.
 * @param workspace absolute path of the folder that commands may write in
 * @param check what is run when a task has failed: read and judged with the plan, as `health check`
 * @param before tasks that have been run there already: what they wrote may be what the plan runs; none of them is judged again
 */
export const scanPlan = (
  plan: Plan,
  workspace: string,
  { before = [], check }: { before?: readonly Task[] | undefined; check?: HealthCheck | undefined } = {},
): Finding[] => scan([...plan.tasks, ...(check ? [checkTask(check)] : [])], workspace, before);

/** Findings of one task and of its undo (`t1` and `t1.undo`). */
export const scanTask = (task: Task, workspace: string): Finding[] => scan([task], workspace, []);

/** What the runner refuses whatever was decided. */
const refused: ReadonlySet<string> = new Set([
  'sql-injection',
  'sql-destruction',
  'container-privileged',
  'host-mount',
  'container-socket',
  'container-root',
  'privilege-escalation',
]);

/**
 * The runner's own look at a task before it starts it (details 2.5): raw or interpolated SQL, privileged containers and host
 * paths in them, the engine's socket, root. It meets repairs and values that were put in after the plan was scanned.
 */
export const admissionFaults = (task: Task, workspace: string): Finding[] =>
  scanTask(task, workspace).filter(({ rule }) => refused.has(rule));
