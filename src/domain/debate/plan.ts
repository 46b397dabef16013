import type { Plan, Task } from '../../contracts/plan.js';

/** What is wrong with a plan, and where: `path` leads into the plan. */
export interface PlanFault {
  path: (string | number)[];
  message: string;
}

/** What a task may use where it does not say (spec 02 "Execution"). */
export const presetLimits = {
  timeout_ms: 300_000,
  memory_mb: 2_048,
  processes: 512,
  output_bytes: 10_485_760,
} as const;

/** Characters of a plan as JSON: it is told to every role of every pass, and a history holds all of that. */
export const maxPlanCharacters = 200_000;

const quoted = (ids: Iterable<string>): string => [...ids].map((id) => `"${id}"`).join(', ');

/**
 * Everything about a plan that its shape does not show (spec 02): ids that are taken, dependencies that name no task, circles,
 * sheer size. Every fault is named.
 * @param done ids of tasks that have succeeded already and may be depended on, though the plan has them no more
 */
export const planFaults = ({ tasks }: Plan, done: readonly string[] = []): PlanFault[] => {
  const faults: PlanFault[] = [];
  const first = new Map<string, number>();
  tasks.forEach(({ task_id: id }, index) => {
    const taken = first.get(id);
    if (taken === undefined) first.set(id, index);
    else faults.push({ path: ['tasks', index, 'task_id'], message: `"${id}" is taken by tasks[${taken}]` });
  });
  const known = new Set([...first.keys(), ...done]);
  tasks.forEach(({ task_id: id, depends_on: needs }, index) => {
    needs.forEach((need, place) => {
      const path = ['tasks', index, 'depends_on', place];
      if (need === id) faults.push({ path, message: `"${id}" cannot depend on itself` });
      else if (!known.has(need)) {
        faults.push({ path, message: `"${need}" is no task of the plan; it has ${quoted(known)}` });
      }
    });
  });
  for (const circle of circlesIn(tasks.filter(({ task_id: id }, index) => first.get(id) === index))) {
    const way = [...circle, circle[0]].map((id) => `"${id}"`).join(' -> ');
    const path = ['tasks', first.get(circle[0] ?? '') ?? 0, 'depends_on'];
    faults.push({ path, message: `is a circle, so that none of it can run first: ${way}; leave one of these out` });
  }
  const characters = JSON.stringify(tasks).length;
  if (characters > maxPlanCharacters) {
    const message = `must be at most ${maxPlanCharacters} characters of JSON together; got ${characters}. Put long inputs into files`;
    faults.push({ path: ['tasks'], message });
  }
  return faults;
};

/** Circles that share no task: ids that each depend on the next, the last on the first. */
const circlesIn = (tasks: readonly Task[]): string[][] => {
  const ordered = new Set(inOrder(tasks).map(({ task_id: id }) => id));
  const stuck = tasks.filter(({ task_id: id, depends_on: needs }) => !ordered.has(id) && !needs.includes(id));
  const byId = new Map(stuck.map((task) => [task.task_id, task]));
  const seen = new Set<string>();
  return stuck.flatMap((task) => {
    const way: string[] = [];
    // What is stuck depends on something that is stuck too: following leads into a circle, or to one that was met before.
    for (let at: Task | undefined = task; at !== undefined && !seen.has(at.task_id); ) {
      const met = way.indexOf(at.task_id);
      if (met >= 0) {
        way.forEach((id) => seen.add(id));
        return [way.slice(met)];
      }
      way.push(at.task_id);
      const next: string | undefined = at.depends_on.find((need) => byId.has(need));
      at = next === undefined ? undefined : byId.get(next);
    }
    way.forEach((id) => seen.add(id));
    return [];
  });
};

/**
 * Tasks in the order they run in: each after all it depends on, else as the plan lists them. What depends on a circle is left
 * out; dependencies that name no task of the list count as met.
 */
export const inOrder = (tasks: readonly Task[]): Task[] => {
  const open = [...tasks];
  const ordered: Task[] = [];
  const waiting = new Set(open.map(({ task_id: id }) => id));
  for (;;) {
    const next = open.findIndex(({ depends_on: needs }) => needs.every((need) => !waiting.has(need)));
    const [task] = next < 0 ? [] : open.splice(next, 1);
    if (!task) return ordered;
    ordered.push(task);
    waiting.delete(task.task_id);
  }
};
