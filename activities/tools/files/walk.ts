import type { Stats } from 'node:fs';
import { type Folder, isFileError, shown } from '../../snapshot/folder.js';
import type { Pace } from '../../snapshot/pace.js';

export interface Entry {
  /** From the folder that the walk began in, for people. */
  path: string;
  parent: Folder;
  /** As the folder has it. */
  name: string;
  stats: Stats;
}

/** What is looked into only where it is named: what is there is made, not written. */
const passedOver: ReadonlySet<string> = new Set(['.git', 'node_modules']);
const mostFolders = 100;

/**
 * What is in a folder, and with `isDeep` in those below it, by name; links are told and not followed. An entry is good until the next is
 * asked for.
 */
export async function* entriesOf(folder: Folder, isDeep: boolean, pace: Pace, at = ''): AsyncGenerator<Entry> {
  for (const name of namesIn(folder, at === '')) {
    await pace();
    const stats = folder.look(name);
    if (stats === null) continue;
    const path = at + shown(name);
    yield { path, parent: folder, name, stats };
    if (!isDeep || !stats.isDirectory() || passedOver.has(name) || at.split('/').length > mostFolders) continue;
    const below = folder.enter(name);
    try {
      yield* entriesOf(below, isDeep, pace, `${path}/`);
    } finally {
      below.close();
    }
  }
}

/** A folder below that may not be read, or has just gone, is as an empty one. */
const namesIn = (folder: Folder, isFirst: boolean): string[] => {
  try {
    return folder.list();
  } catch (error) {
    if (isFirst || !isFileError(error)) throw error;
    return [];
  }
};
