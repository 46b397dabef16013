import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasOwnerEnded, ownTag, tagIn } from './owner.js';

const prefix = 'parley-sandbox-';

/** A folder that only this user can enter, and how to remove it. */
export const makeScratch = async (): Promise<{ folder: string; remove: () => Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), `${prefix}${ownTag()}-`));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
};

/** Removes what workers that were killed had no time to. Folders of other users are left to them. */
export const removeLeftScratch = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    const tag = name.startsWith(prefix) ? tagIn(name.slice(prefix.length)) : null;
    if (tag === null || !hasOwnerEnded(tag)) continue;
    const folder = join(tmpdir(), name);
    const owner = await stat(folder).then(
      ({ uid }) => uid,
      () => null, // another worker was first
    );
    if (owner === process.getuid?.()) await rm(folder, { recursive: true, force: true });
  }
};
