import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import type { TaskLimits } from '../../src/contracts/plan.js';
import { controlGroupPlaces, type ControlGroupPlaces } from './control-group-places.js';
import { hasOwnerEnded, ownTag, tagIn } from './owner.js';
import { comesTrue, signal } from './process-tree.js';

const prefix = 'parley-';
/** How long the kernel may take to end what was killed; longer is a process stuck in a device or a network mount. */
const endLimitMs = 10_000;
/** What the sandbox itself needs of `processes`: who waits for the command outside and inside. */
const ownProcesses = 2;

/** The group that one command and all it starts live in. */
export interface ControlGroup {
  /** Who writes its process id into `cgroup.procs` of each of these is in. */
  folders: string[];
  /** Whether memory ran out and whether a new process was refused, so far. */
  events(): Promise<{ outOfMemory: boolean; processesHeld: boolean }>;
  /** Kills what is left and removes the group. @throws ParleyError when something cannot be ended */
  end(): Promise<void>;
}

export interface ControlGroups {
  version: 1 | 2;
  memory: boolean;
  processes: boolean;
  create(limits: TaskLimits): Promise<ControlGroup>;
}

let made = 0;

/**
 * The kernel's control groups, as far as this process may make some: version 2 where a part of the tree is its own,
 * else version 1 with `memory` and `pids`. Removes the groups that killed workers left. null: what the shell can limit has to do.
 */
export const findControlGroups = async (root = '/'): Promise<ControlGroups | null> => {
  const places = await controlGroupPlaces(root);
  if (places === null) return null;
  const folders = [...new Set([places.memory, places.processes])].filter((folder) => folder !== null);
  for (const folder of folders) await removeLeftGroups(folder);
  const groups: ControlGroups = {
    version: places.version,
    memory: places.memory !== null,
    processes: places.processes !== null,
    create: (limits) => createGroup(places, limits),
  };
  try {
    const trial = await groups.create({ timeout_ms: 1, memory_mb: 8, processes: 1, output_bytes: 0 });
    await trial.end();
    return groups;
  } catch (error) {
    // Seen but not ours to use: a read-only mount, as in most containers, or another user's part of the tree.
    if (['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return null;
    throw error;
  }
};

const createGroup = async (places: ControlGroupPlaces, limits: TaskLimits): Promise<ControlGroup> => {
  const name = `${prefix}${ownTag()}-${(made += 1)}`;
  const [memory, processes] = [places.memory, places.processes].map((folder) => folder && join(folder, name));
  const folders = [...new Set([memory, processes])].filter((folder) => typeof folder === 'string');
  const group: ControlGroup = {
    folders,
    events: async () => ({
      outOfMemory:
        !!memory &&
        (await countOf(join(memory, places.version === 2 ? 'memory.events' : 'memory.oom_control'), 'oom_kill')) > 0,
      processesHeld: !!processes && (await countOf(join(processes, 'pids.events'), 'max')) > 0,
    }),
    end: () => endGroups(folders),
  };
  try {
    for (const folder of folders) await mkdir(folder);
    if (memory) await limitMemory(memory, places.version, limits.memory_mb * 1_048_576);
    if (processes) await writeFile(join(processes, 'pids.max'), `${limits.processes + ownProcesses}`);
    return group;
  } catch (error) {
    await group.end();
    throw error;
  }
};

/** Swap counts too, where the kernel keeps count of it. */
const limitMemory = async (folder: string, version: 1 | 2, bytes: number): Promise<void> => {
  const swap = version === 2 ? ['memory.swap.max', '0'] : ['memory.memsw.limit_in_bytes', `${bytes}`];
  await writeFile(join(folder, version === 2 ? 'memory.max' : 'memory.limit_in_bytes'), `${bytes}`);
  const files = new Set(await readdir(folder));
  if (files.has(swap[0]!)) await writeFile(join(folder, swap[0]!), swap[1]!);
  // One that runs out ends whole: half a build is of no use.
  if (files.has('memory.oom.group')) await writeFile(join(folder, 'memory.oom.group'), '1');
};

/** A number of a file of `name number` lines; 0 where it is not told. */
const countOf = async (file: string, name: string): Promise<number> => {
  const text = await readFile(file, 'utf8');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
};

const membersOf = async (folder: string): Promise<number[]> =>
  (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').filter(Boolean).map(Number);

/** Kills who is in a group and removes it. @returns whether it is gone */
const tryToEnd = async (folder: string): Promise<boolean> => {
  try {
    for (const pid of await membersOf(folder)) signal(pid, 'SIGKILL');
    await rmdir(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true; // never made, or another worker was first
    if (code === 'EBUSY') return false; // what was killed has not quite gone
    throw error;
  }
};

const endGroups = async (folders: readonly string[]): Promise<void> => {
  for (const folder of folders) {
    if (await comesTrue(() => tryToEnd(folder), endLimitMs)) continue;
    throw new ParleyError(
      'unavailable',
      `processes ${(await membersOf(folder)).join(', ')} of the control group ${folder} do not end although they were killed; they probably wait for a device or a network mount`,
    );
  }
};

/** What is another user's, or does not end now, is left to a later start. */
const removeLeftGroups = async (folder: string): Promise<void> => {
  for (const name of await namesIn(folder)) {
    const tag = name.startsWith(prefix) ? tagIn(name.slice(prefix.length)) : null;
    if (tag === null || !hasOwnerEnded(tag)) continue;
    try {
      await endGroups([join(folder, name)]);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!['EACCES', 'EPERM', 'EROFS', 'unavailable'].includes(code ?? '')) throw error;
    }
  }
};

const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return []; // seen and not ours
    throw error;
  }
};
