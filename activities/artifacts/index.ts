import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { S3Location } from '../../src/settings/artifacts.js';
import type { ArtifactReader } from '../../src/contracts/artifact.js';
import { artifactFolder, createFolderStore } from './folder.js';
import type { ArtifactStore } from './port.js';
import { createReaderApart } from './read.js';
import { createS3Store, textAt } from './s3.js';

/** What the places of an installation are told by. */
export interface StoreSettings {
  dataFolder: string;
  /** null: everything lies in the data folder. */
  s3: S3Location | null;
}

export interface Stores {
  /** Files that agents produced, by tenant. */
  artifacts: ArtifactStore;
  /** Payloads too large for a history, by Temporal namespace; no address of the gateway reaches them as artifacts. */
  claims: ArtifactStore;
  /** Whose these are: who was named first, for good. A clean-up by anybody else would remove what that one needs. */
  owner(name: string): Promise<string>;
}

const claimFolder = (dataFolder: string): string => join(dataFolder, 'claims');

const ownerIn = async (dataFolder: string, name: string): Promise<string> => {
  const file = join(dataFolder, 'owner');
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  try {
    // Exclusive: of two that start together, the second one reads what the first has written.
    await writeFile(file, name, { flag: 'wx', mode: 0o600 });
    return name;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return await readFile(file, 'utf8');
  }
};

export const openStores = ({ dataFolder, s3 }: StoreSettings): Stores =>
  s3 === null
    ? {
        artifacts: createFolderStore(artifactFolder(dataFolder)),
        claims: createFolderStore(claimFolder(dataFolder)),
        owner: (name) => ownerIn(dataFolder, name),
      }
    : {
        artifacts: createS3Store(s3, 'artifacts/'),
        claims: createS3Store(s3, 'claims/'),
        owner: (name) => textAt(s3, 'owner', name),
      };

/** The artifacts for a gateway whose workers may be on other machines. @throws ParleyError unavailable, when it is asked */
export const openReaderApart = (settings: StoreSettings): ArtifactReader =>
  settings.s3 === null ? createReaderApart(artifactFolder(settings.dataFolder)) : openStores(settings).artifacts;

/** Whether there is a place at all; a typing error must not look like an empty store. */
export const isThere = ({ dataFolder, s3 }: StoreSettings): boolean => s3 !== null || existsSync(dataFolder);
