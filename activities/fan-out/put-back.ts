import { createHash } from 'node:crypto';
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
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.put-back`;
    try {
      // The last bytes come only after the digest was found right.
      await writeFile(draft, found.content);
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
