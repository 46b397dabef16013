import { existsSync } from 'node:fs';
import type { ArtifactReader, OpenArtifact, StoredArtifact } from '../../src/contracts/artifact.js';
import { ParleyError } from '../../src/domain/errors.js';
import { createFolderStore } from './folder.js';
import type { ArtifactStore } from './port.js';

/** The whole content. @throws ParleyError corrupt */
export const bytesOf = async ({ content }: OpenArtifact): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** For a gateway whose workers may be on other machines: no folder is then no empty store. @throws ParleyError unavailable */
export const createReaderApart = (folder: string): ArtifactReader => {
  const store = createFolderStore(folder);
  return {
    open: async (tenant, hash) => {
      if (existsSync(folder)) return await store.open(tenant, hash);
      throw new ParleyError(
        'unavailable',
        'There are no artifacts here: this gateway runs apart from its workers, and they lie in theirs. Give both one PARLEY_DATA folder, or PARLEY_ARTIFACTS_URL.',
      );
    },
  };
};

export interface CorruptArtifact {
  artifact: StoredArtifact;
  why: string;
}

/** Reads every artifact of a store and names those whose content is not what their digest says. */
export const verifyArtifacts = async (
  store: ArtifactStore,
): Promise<{ artifacts: number; bytes: number; corrupt: CorruptArtifact[] }> => {
  let artifacts = 0;
  let bytes = 0;
  const corrupt: CorruptArtifact[] = [];
  for await (const artifact of store.list()) {
    const opened = await store.open(artifact.tenant, artifact.hash);
    if (!opened) continue;
    artifacts += 1;
    bytes += opened.size_bytes;
    try {
      for await (const _ of opened.content); // the reading is the check
    } catch (error) {
      if (!(error instanceof ParleyError) || error.code !== 'corrupt') throw error;
      corrupt.push({ artifact, why: error.message });
    }
  }
  return { artifacts, bytes, corrupt };
};
