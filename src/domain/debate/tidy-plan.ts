import { isObject, type JsonObject } from '../model-json.js';

/** Members of a plan as the contract has them; whatever else a model writes is ignored (details 2.6). */
const members = {
  plan: ['tasks'],
  task: ['task_id', 'argv', 'cwd', 'env', 'stdin', 'expect', 'undo', 'depends_on', 'limits'],
  expect: ['exit_code', 'files'],
  file: ['path', 'exists', 'sha256', 'contains'],
  undo: ['argv', 'cwd', 'env', 'stdin'],
  limits: ['timeout_ms', 'cpu_ms', 'memory_mb', 'processes', 'output_bytes'],
} as const;

/** Only these members, and none that is null: models write null for what they leave out. */
const only = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(object, name) ? object[name] : null;
      return value === null || value === undefined ? [] : [[name, value] as const];
    }),
  );

const within = (object: JsonObject, name: string, tidy: (value: unknown) => unknown): JsonObject =>
  name in object ? { ...object, [name]: tidy(object[name]) } : object;

const each =
  (tidy: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.map(tidy) : value;

const tidied =
  (names: readonly string[]) =>
  (value: unknown): unknown =>
    isObject(value) ? only(value, names) : value;

const tidyExpect = (value: unknown): unknown =>
  isObject(value) ? within(only(value, members.expect), 'files', each(tidied(members.file))) : value;

const tidyTask = (value: unknown): unknown => {
  if (!isObject(value)) return value;
  const task = within(only(value, members.task), 'expect', tidyExpect);
  return within(within(task, 'undo', tidied(members.undo)), 'limits', tidied(members.limits));
};

/** A model's plan without what no plan has, before its schema looks at it: a stray "description" is no reason to ask again. */
export const tidyPlan = (value: unknown): unknown =>
  isObject(value) ? within(only(value, members.plan), 'tasks', each(tidyTask)) : value;
