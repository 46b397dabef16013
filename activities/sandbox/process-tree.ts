import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessStat {
  parent: number;
  /** Tick since boot at which it began: a number of a process alone may have been given to another since. */
  began: string;
}

/** @returns null when there is no such process, or one that has ended and only waits to be collected */
export const statOf = (pid: number): ProcessStat | null => {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in parentheses may hold anything.
  const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? null : { parent: Number(parent), began: rest[17] ?? '' };
};

/** A process that this one looks after, told apart from a later one of the same number. */
export interface Process {
  pid: number;
  began: string;
}

const isAlive = ({ pid, began }: Process): boolean => statOf(pid)?.began === began;

/** What a process started and what these started, parents first; also in namespaces of process ids inside this one's. */
export const descendantsOf = (root: number): Process[] => {
  const childrenOf = new Map<number, Process[]>();
  if (!existsSync('/proc/self')) return []; // not Linux
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? statOf(pid) : null;
    if (stat === null) continue;
    const siblings = childrenOf.get(stat.parent);
    if (siblings === undefined) childrenOf.set(stat.parent, [{ pid, began: stat.began }]);
    else siblings.push({ pid, began: stat.began });
  }
  const found: Process[] = [];
  for (let wave = childrenOf.get(root) ?? []; wave.length > 0; ) {
    found.push(...wave);
    wave = wave.flatMap(({ pid }) => childrenOf.get(pid) ?? []);
  }
  return found;
};

/** Signals a process or, with a negative number, a group. One that has gone is what was wanted (macOS says EPERM). */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};

/** Asks again after 1, 2, 4 … 50 ms, as nothing tells about what is no child of ours. @returns whether it came true in time */
export const comesTrue = async (isTrue: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> => {
  const until = performance.now() + limitMs;
  for (let waitMs = 1; !(await isTrue()); waitMs = Math.min(50, waitMs * 2)) {
    if (performance.now() > until) return false;
    await delay(waitMs);
  }
  return true;
};

/** Settles when all have ended. @returns whether they did within `limitMs` */
export const haveEnded = async (processes: readonly Process[], limitMs: number): Promise<boolean> =>
  await comesTrue(() => !processes.some(isAlive), limitMs);
