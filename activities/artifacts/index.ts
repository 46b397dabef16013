import { join } from 'node:path';
import { artifactFolder, createFolderStore } from './folder.js';
import type { ArtifactStore } from './port.js';

/** What the places of an installation are told apart by. */
export interface StoreSettings {
  dataFolder: string;
}

export interface Stores {
  /** Files that agents produced, by tenant. */
  artifacts: ArtifactStore;
  /** Payloads too large for a history, by Temporal namespace; no address of the gateway reaches them as artifacts. */
  claims: ArtifactStore;
}

export const claimFolder = (dataFolder: string): string => join(dataFolder, 'claims');

export const openStores = ({ dataFolder }: StoreSettings): Stores => ({
  artifacts: createFolderStore(artifactFolder(dataFolder)),
  claims: createFolderStore(claimFolder(dataFolder)),
});
