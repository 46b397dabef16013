import { randomUUID } from 'node:crypto';
import { unlock, type Folder } from './folder.js';
import type { Pace } from './pace.js';

/** For what is under way in a workspace; a restore removes what a crash left of it, as all that is not in the snapshot. */
export const temporaryName = (): string => `.parley-${randomUUID()}`;

/**
 * Removes a name and all that is below it, whatever its folders forbid. Folders are moved up before they are emptied: a
 * tree of any depth needs two open folders.
 */
export const removeAll = async (parent: Folder, name: string, pace: Pace): Promise<void> => {
  const stats = parent.look(name);
  if (stats === null) return;
  if (!stats.isDirectory()) {
    parent.remove(name);
    return;
  }
  unlock(parent, name, stats);
  const full = [name];
  for (let next = full.pop(); next !== undefined; next = full.pop()) {
    const folder = parent.enter(next);
    try {
      for (const child of folder.list()) {
        await pace();
        const inner = folder.look(child);
        if (inner === null) continue;
        if (!inner.isDirectory()) {
          folder.remove(child);
          continue;
        }
        unlock(folder, child, inner); // to move a folder is to write into it
        const moved = temporaryName();
        folder.move(child, moved, parent);
        full.push(moved);
      }
    } finally {
      folder.close();
    }
    parent.removeFolder(next);
  }
};
