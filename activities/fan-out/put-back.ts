import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import type { ArtifactStore } from '../artifacts/port.js';

export interface PutBackInput {
  workId: string;
  tenant: string;
  /** By their paths below the folder of the work. */
  artifacts: { path: string; hash: string }[];
}

const hashOf = async (file: string): Promise<string | null> => {
  const place = await lstat(file).catch(() => null);
  if (!place?.isFile()) return null;
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(file)) digest.update(chunk as Buffer);
  return `sha256:${digest.digest('hex')}`;
};

/** Makes folders below `base`; a link, or a file, that took the place of one goes: nothing is written through it. */
const realFolders = async (base: string, path: string): Promise<void> => {
  let folder = base;
  for (const name of path.split('/')) {
    folder = join(folder, name);
    const place = await lstat(folder).catch(() => null);
    if (place?.isDirectory()) continue;
    await rm(folder, { force: true });
    await mkdir(folder, { mode: 0o700 });
  }
};

/**
 * Writes files of the artifact store to where they were, unless they are there as they were (spec 07 "Restore").
 * @returns the paths that were written
 * @throws ParleyError corrupt, or gone for one that the store has no more; files before it are there by then
 */
export const putBack = async (
  namespaces: string,
  { workId, tenant, artifacts }: PutBackInput,
  store: ArtifactStore,
): Promise<string[]> => {
  const written: string[] = [];
  for (const { path, hash } of artifacts) {
    const file = join(namespaces, workId, path);
    if ((await hashOf(file)) === hash) continue;
    const found = await store.open(tenant, hash);
    if (!found)
      throw new ParleyError('gone', `${path} cannot be put back: its artifact ${hash} is not stored any more`);
    await realFolders(join(namespaces, workId), dirname(path));
    // Where no worker reaches: no agent id begins with a dot.
    const drafts = join(namespaces, workId, '.answers');
    await mkdir(drafts, { recursive: true, mode: 0o700 });
    const draft = join(drafts, randomUUID());
    try {
      // The last bytes come only after the digest was found right.
      await writeFile(draft, found.content, { flag: 'wx', mode: 0o600 });
      // A link or a folder that took the place of the file goes with it.
      await rm(file, { recursive: true, force: true });
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    written.push(path);
  }
  return written;
};
