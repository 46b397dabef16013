import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { descendantsOf } from './process-tree.js';

/** Folders in which groups can be made; null: that controller is not to be had. */
export interface ControlGroupPlaces {
  version: 1 | 2;
  memory: string | null;
  processes: string | null;
}

interface Mount {
  /** The part of the hierarchy that is mounted. */
  root: string;
  point: string;
  type: string;
  options: string[];
}

/** Where this process itself moves to, since a group with processes may not have limited groups in it (version 2). */
const leafName = 'parley-worker';

/** Where this process may make groups, under its own; `root` is where the machine's /proc and /sys are seen. */
export const controlGroupPlaces = async (root: string): Promise<ControlGroupPlaces | null> => {
  const [mounts, own] = await Promise.all([mountsOf(root), ownGroups(root)]);
  const unified = mounts.find(({ type }) => type === 'cgroup2');
  if (unified !== undefined) {
    const folder = await delegatedFolder(join(root, under(unified, own.get('') ?? '/')));
    if (folder !== null) return { version: 2, memory: folder, processes: folder };
  }
  const placeOf = (controller: string): string | null => {
    const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
    return mount === undefined ? null : join(root, under(mount, own.get(controller) ?? '/'));
  };
  const [memory, processes] = [placeOf('memory'), placeOf('pids')];
  return memory === null && processes === null ? null : { version: 1, memory, processes };
};

const readLines = async (path: string): Promise<string[]> => {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []; // not Linux
    throw error;
  }
};

const mountsOf = async (root: string): Promise<Mount[]> =>
  (await readLines(join(root, 'proc/self/mountinfo'))).flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , mountRoot = '/', point = '/'] = before.split(' ');
    const [type = '', , options = ''] = after.split(' ');
    return type.startsWith('cgroup') ? [{ root: mountRoot, point, type, options: options.split(',') }] : [];
  });

/** This process's group in each hierarchy, by controller; version 2 has none in its name. */
const ownGroups = async (root: string): Promise<Map<string, string>> => {
  const lines = await readLines(join(root, 'proc/self/cgroup'));
  return new Map(
    lines.flatMap((line) => {
      const [, controllers = '', ...path] = line.split(':');
      return controllers.split(',').map((controller) => [controller, path.join(':')] as const);
    }),
  );
};

/** A group's folder: inside a container only a part of the hierarchy may be mounted. */
const under = (mount: Mount, group: string): string => {
  const inside = relative(mount.root, group);
  return inside.startsWith('..') ? mount.point : join(mount.point, inside);
};

/**
 * The folder of this process's group when groups in it can be limited. A group that holds nobody but this process and
 * what it started is made fit for that: they move into a leaf of it.
 */
const delegatedFolder = async (own: string): Promise<string | null> => {
  const folder = basename(own) === leafName ? dirname(own) : own;
  const has = async (file: string): Promise<boolean> => {
    const controllers = (await readLines(join(folder, file))).join(' ').split(' ');
    return ['memory', 'pids'].every((controller) => controllers.includes(controller));
  };
  if (await has('cgroup.subtree_control')) return folder;
  if (!(await has('cgroup.controllers'))) return null;
  const ours = new Set([process.pid, ...descendantsOf(process.pid).map(({ pid }) => pid)]);
  const members = (await readLines(join(folder, 'cgroup.procs'))).map(Number);
  if (!members.every((pid) => ours.has(pid))) return null;
  try {
    await mkdir(join(folder, leafName), { recursive: true });
    for (const pid of members) await writeFile(join(folder, leafName, 'cgroup.procs'), `${pid}`);
    await writeFile(join(folder, 'cgroup.subtree_control'), '+memory +pids');
    return folder;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS', 'EBUSY'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
};
