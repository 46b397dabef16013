import type { Finding } from '../../contracts/finding.js';
import type { Plan, Task } from '../../contracts/plan.js';
import type { Rule } from './rule.js';

export type { Rule } from './rule.js';

/** Every rule that `scanPlan` and `admissionFaults` know. */
export const rules: readonly Rule[] = [];

/** Findings of one task and of its undo. */
export const scanTask = (task: Task, workspace: string): Finding[] => scanPlan({ tasks: [task] }, workspace);

/**
 * The static rule scan of spec 02 "Decision": what the commands of a plan would do that no plan may.
 * @param workspace absolute path of the folder that commands may write in
 */
export const scanPlan = (_plan: Plan, _workspace: string): Finding[] => [];

/** The runner's own refusals before it starts a task (details 2.5): raw or interpolated SQL, host mounts, the container socket, root. */
export const admissionFaults = (_task: Task, _workspace: string): Finding[] => [];
