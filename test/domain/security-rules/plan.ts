import type { Finding } from '../../../src/contracts/finding.js';
import { planSchema, type Plan, type PlanBody, type Task } from '../../../src/contracts/plan.js';
import { scanPlan } from '../../../src/domain/security-rules/index.js';

export const workspace = '/srv/projects/shop';

type TaskBody = PlanBody['tasks'][number];

/** A plan of tasks t1, t2 … with what a request may leave out. */
export const planOf = (...tasks: readonly Partial<TaskBody>[]): Plan =>
  planSchema.parse({ tasks: tasks.map((task, index) => ({ task_id: `t${index + 1}`, argv: ['true'], ...task })) });

export const taskOf = (task: Partial<TaskBody>): Task => planOf(task).tasks[0] as Task;

/** What a task runs; a text is a line of a shell. */
export type Command = string | readonly string[];

/** Commands by the rule that must see them. */
export type DangerousCommands = Readonly<Record<string, readonly Command[]>>;

export const argvOf = (command: Command): string[] =>
  typeof command === 'string' ? ['bash', '-c', command] : [...command];

/** Findings of one command. */
export const findingsOf = (command: Command): Finding[] => scanPlan(planOf({ argv: argvOf(command) }), workspace);

export const ruleIds = (findings: readonly Finding[]): string[] => findings.map(({ rule }) => rule);
