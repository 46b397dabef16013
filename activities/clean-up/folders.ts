import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Folder } from '../snapshot/folder.js';
import { createPace } from '../snapshot/pace.js';
import { removeAll } from '../snapshot/remove-all.js';
import { unwholeSuffix } from '../workspace.js';
import type { HistoriesPort } from './histories.js';

export interface FoldersOptions {
  dataFolder: string;
  histories: HistoriesPort;
  /** Epoch milliseconds: what was touched after it is spared. */
  touchedBefore: number;
  isDryRun: boolean;
  signal: AbortSignal;
  onProgress: () => void;
}

/** What is kept for a piece of work, in a folder of its id. Of a run that is where it works, or has worked. */
const byWork = ['namespaces', 'snapshots', 'executions', 'runs'];

/** The work that a folder is of, or will be once it is whole. */
const workOf = (folderName: string): string[] =>
  folderName.endsWith(unwholeSuffix) ? [folderName, folderName.slice(0, -unwholeSuffix.length)] : [folderName];

const isAnyKnown = async (ids: readonly string[], histories: HistoriesPort): Promise<boolean> => {
  for (const id of ids) if (await histories.isKnown(id)) return true;
  return false;
};

const unfinished = [join('artifacts', '.unfinished'), join('claims', '.unfinished')];

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Names in a folder that were touched before a moment; none where there is no folder. */
const oldIn = async (folder: string, touchedBefore: number): Promise<string[]> => {
  const old: string[] = [];
  try {
    for (const name of await readdir(folder))
      if ((await stat(join(folder, name))).mtimeMs < touchedBefore) old.push(name);
  } catch (error) {
    if (!isGone(error)) throw error; // by now somebody else has removed it
  }
  return old;
};

/** @returns how many were removed: folders of work that Temporal knows no more, and writes whose writer died */
export const sweepFolders = async (options: FoldersOptions): Promise<number> => {
  const { dataFolder, histories, touchedBefore, isDryRun, signal, onProgress } = options;
  const pace = createPace(signal);
  let removed = 0;
  for (const place of byWork.map((name) => join(dataFolder, name))) {
    for (const name of await oldIn(place, touchedBefore)) {
      signal.throwIfAborted();
      onProgress();
      if (await isAnyKnown(workOf(name), histories)) continue;
      removed += 1;
      if (isDryRun) continue;
      const folder = Folder.open(place);
      try {
        await removeAll(folder, Buffer.from(name).toString('latin1'), pace);
      } finally {
        folder.close();
      }
    }
  }
  for (const place of unfinished.map((name) => join(dataFolder, name))) {
    for (const name of await oldIn(place, touchedBefore)) {
      removed += 1;
      if (!isDryRun) await rm(join(place, name), { force: true });
    }
  }
  return removed;
};
