import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import { differences } from './differences.js';
import { Folder, isFileError, toName } from './folder.js';
import { byPath, Kept } from './kept.js';
import type { Manifest } from './manifest.js';
import { createPace } from './pace.js';
import type { Snapshot, SnapshotPort } from './port.js';
import { Restorer } from './restore.js';
import { scan } from './scan.js';

export type { Snapshot, SnapshotPort } from './port.js';

/**
 * Snapshots in a folder of their own; docs/decisions/0006 says why they are no git trees, and what they do not keep.
 * Workspaces are given as `resolveWorkspace` answers.
 */
export const createSnapshots = (folder: string): SnapshotPort => ({
  take: async (key, workspace, signal) => {
    const pace = createPace(signal);
    const kept = new Kept(folder, key);
    await checkPlace(workspace);
    const start =
      (await kept.start(pace)) ??
      (await kept.keepStart((pack) => scan(workspace, { known: [], pack, isForced: false, pace }), pace));
    return answer(sameWorkspace(start, workspace));
  },

  mark: async (key, workspace, name, signal) => {
    const pace = createPace(signal);
    const kept = new Kept(folder, key);
    await checkPlace(workspace);
    const mark = await kept.mark(name, pace);
    if (mark === null) {
      const now = await scan(workspace, { known: [await kept.latest(pace)], pack: null, isForced: true, pace });
      await kept.keepMark(name, now, pace);
    } else sameWorkspace(mark, workspace);
    return markPrefix + name;
  },

  changes: async (key, workspace, since, signal) => {
    const pace = createPace(signal);
    const kept = new Kept(folder, key);
    await checkPlace(workspace);
    const then = since.startsWith(markPrefix)
      ? await kept.mark(since.slice(markPrefix.length), pace)
      : await kept.start(pace);
    const before = found(then, key, since, workspace);
    const known = [await kept.latest(pace), byPath(before)];
    const now = await scan(workspace, { known, pack: null, isForced: true, pace });
    await kept.keepLatest(now, pace);
    return differences(before.entries, now.entries);
  },

  restore: async (key, workspace, snapshot, signal) => {
    const pace = createPace(signal);
    const kept = new Kept(folder, key);
    const start = found(await kept.start(pace), key, snapshot, workspace);
    await mkdir(dirname(workspace), { recursive: true });
    await checkPlace(workspace);
    const known = [await kept.latest(pace), byPath(start)];
    const pack = kept.pack();
    const parent = Folder.open(dirname(workspace));
    const restorer = new Restorer(parent, toName(basename(workspace)), start, pack, known, pace);
    try {
      await restorer.run();
    } finally {
      parent.close();
      pack.close();
    }
    const now = await scan(workspace, { known, pack: null, isForced: true, pace });
    await kept.keepLatest(now, pace);
    return { digest: now.digest, manual: restorer.manual };
  },

  remove: async (key) => {
    await new Kept(folder, key).remove();
  },
});

const markPrefix = 'mark-';

const answer = ({ digest, entries }: Manifest): Snapshot => ({
  snapshot: digest,
  digest,
  files: entries.filter(({ type }) => type === 'file').length,
});

const found = (manifest: Manifest | null, key: string, name: string, workspace: string): Manifest => {
  if (manifest !== null && (name.startsWith(markPrefix) || manifest.digest === name))
    return sameWorkspace(manifest, workspace);
  throw new ParleyError(
    'not_found',
    `There is no snapshot ${name} of ${key} in this worker's data folder; run the work where it was taken.`,
  );
};

/** A snapshot of one folder restored into another would empty that one. */
const sameWorkspace = (manifest: Manifest, workspace: string): Manifest => {
  if (manifest.workspace === workspace) return manifest;
  throw new ParleyError('conflict', `The snapshot is of ${manifest.workspace}, and not of ${workspace}.`);
};

/** The folders above a workspace are no task's; should one have become a link, the workspace is another folder. */
const checkPlace = async (workspace: string): Promise<void> => {
  const parent = dirname(workspace);
  let real: string;
  try {
    real = await realpath(parent);
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new ParleyError(
      'wrong_state',
      `The workspace ${workspace} is gone, with the folder it was in; make it again.`,
    );
  }
  if (real === parent && workspace !== parent) return;
  throw new ParleyError('conflict', `${parent} leads to ${real}; name the workspace by the path it really has.`);
};
