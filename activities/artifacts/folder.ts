import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenArtifact, StoredArtifact } from '../../src/contracts/artifact.js';
import { digitsOf, hashOf, isTenantName, tenantName } from './names.js';
import type { ArtifactStore } from './port.js';
import { chunksOf, verified } from './verified.js';

const chunkBytes = 65_536;
/** What is being written. No tenant's name begins with a dot. */
const unfinished = '.unfinished';

export const artifactFolder = (dataFolder: string): string => join(dataFolder, 'artifacts');

// Some file systems take no notice of case, so "Acme" and "acme" must not differ in it alone; no tenant's name holds a "+".
const folderOf = (tenant: string): string => tenant.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`);
const tenantOf = (folder: string): string => folder.replace(/\+([a-z])/g, (_, letter: string) => letter.toUpperCase());

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const readFile = async function* (file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
};

/** A rename lasts through a loss of power only once its folder is on the disk. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Names in a folder, sorted; none where there is no folder. */
const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return (await readdir(folder)).toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
};

/** Artifacts as files, `<tenant>/<first two digits>/<64 digits>` below a folder, which is made with the first of them. */
export const createFolderStore = (folder: string): ArtifactStore => {
  const fileOf = (tenant: string, hash: string): string => {
    const digits = digitsOf(hash);
    return join(folder, folderOf(tenantName(tenant)), digits.slice(0, 2), digits);
  };
  const statOf = async (tenant: string, hash: string) => {
    try {
      return await stat(fileOf(tenant, hash));
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };

  return {
    put: async (tenant, content) => {
      tenantName(tenant);
      const desk = join(folder, unfinished);
      await mkdir(desk, { recursive: true, mode: 0o700 });
      const draft = join(desk, randomUUID());
      try {
        const digest = createHash('sha256');
        let size = 0;
        const handle = await open(draft, 'wx', 0o600);
        try {
          for await (const chunk of chunksOf(content)) {
            digest.update(chunk);
            size += chunk.byteLength;
            await handle.writeFile(chunk); // goes on from where the last one ended
          }
          await handle.sync();
        } finally {
          await handle.close();
        }
        const hash = `sha256:${digest.digest('hex')}`;
        const file = fileOf(tenant, hash);
        await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
        await rename(draft, file);
        await syncFolder(join(file, '..'));
        return { hash, size_bytes: size };
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
    },

    open: async (tenant, hash): Promise<OpenArtifact | null> => {
      const found = await statOf(tenant, hash);
      return found && { hash, size_bytes: found.size, content: verified(readFile(fileOf(tenant, hash)), hash) };
    },

    has: async (tenant, hash) => (await statOf(tenant, hash)) !== null,

    remove: async (tenant, hash, { storedBefore = Infinity } = { storedBefore: Infinity }) => {
      const found = await statOf(tenant, hash);
      if (!found || found.mtimeMs >= storedBefore) return false;
      try {
        await unlink(fileOf(tenant, hash));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },

    list: async function* (): AsyncGenerator<StoredArtifact> {
      for (const owner of await namesIn(folder)) {
        const tenant = tenantOf(owner);
        // What somebody else has put here is no artifact.
        if (!isTenantName(tenant)) continue;
        for (const part of await namesIn(join(folder, owner))) {
          for (const digits of await namesIn(join(folder, owner, part))) {
            const hash = hashOf(digits);
            const found = hash === null ? null : await statOf(tenant, hash);
            if (hash !== null && found)
              yield { tenant, hash, size_bytes: found.size, stored_at: found.mtime.toISOString() };
          }
        }
      }
    },
  };
};
