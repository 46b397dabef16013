import type { QueueOverflow } from '../../contracts/fan-out.js';

/** What becomes of a task as it comes: it runs at once, waits, or has no place. */
export type Admitted = { place: 'running' | 'waiting' } | { place: 'rejected' | 'evicted'; message: string };

export interface AdmissionRules {
  maxConcurrent: number;
  overflow: QueueOverflow;
  /** null: any number may wait. */
  queueLimit: number | null;
}

/**
 * Takes tasks in the order of the request (spec 03 `queue_overflow`, details 4.2): the first `maxConcurrent` run, the next wait,
 * and where more than `queueLimit` would wait, the newest is refused or the lowest of those that wait, the youngest of equals,
 * makes room for one that is strictly higher. What runs is never evicted.
 */
export const admit = (
  tasks: readonly { taskId: string; priority: number }[],
  { maxConcurrent, overflow, queueLimit }: AdmissionRules,
): Admitted[] => {
  const waiting: number[] = [];
  const admitted: Admitted[] = [];
  const full = `${maxConcurrent} tasks run and ${queueLimit} wait, which is queue_limit`;
  tasks.forEach(({ taskId, priority }, index) => {
    if (index < maxConcurrent) {
      admitted.push({ place: 'running' });
      return;
    }
    if (overflow === 'wait' || queueLimit === null || waiting.length < queueLimit) {
      waiting.push(index);
      admitted.push({ place: 'waiting' });
      return;
    }
    const lowest = overflow === 'reject' ? undefined : lowestOf(waiting, tasks);
    const victim = lowest === undefined ? undefined : tasks[lowest];
    if (lowest === undefined || victim === undefined || victim.priority >= priority) {
      const none = overflow === 'reject' ? '' : `; none that waits has a priority below ${priority}`;
      admitted.push({ place: 'rejected', message: `task ${taskId} was refused: ${full}${none}` });
      return;
    }
    waiting.splice(waiting.indexOf(lowest), 1, index);
    admitted[lowest] = {
      place: 'evicted',
      message: `task ${victim.taskId} (priority ${victim.priority}) made room for ${taskId} (priority ${priority}): ${full}`,
    };
    admitted.push({ place: 'waiting' });
  });
  return admitted;
};

/** The lowest priority that waits, the youngest of equals. */
const lowestOf = (waiting: readonly number[], tasks: readonly { priority: number }[]): number | undefined =>
  waiting.reduce<number | undefined>((lowest, index) => {
    if (lowest === undefined) return index;
    const difference = (tasks[index]?.priority ?? 0) - (tasks[lowest]?.priority ?? 0);
    return difference < 0 || (difference === 0 && index > lowest) ? index : lowest;
  }, undefined);

/** The order in which admitted tasks are started: who has a place first, then by priority, FIFO within one. */
export const startOrder = (tasks: readonly { priority: number }[], admitted: readonly Admitted[]): number[] => {
  const placed = (place: Admitted['place']): number[] =>
    admitted.flatMap((each, index) => (each.place === place ? [index] : []));
  const byPriority = placed('waiting').sort((a, b) => (tasks[b]?.priority ?? 0) - (tasks[a]?.priority ?? 0) || a - b);
  return [...placed('running'), ...byPriority];
};
