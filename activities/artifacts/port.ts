import type { Artifact, ArtifactReader, StoredArtifact } from '../../src/contracts/artifact.js';

export type ArtifactContent = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Files by the digest of their content, each tenant's for itself (spec 07 "Artifacts"). Any number of processes may use one
 * store at once; what is stored is there whole or not at all.
 */
export interface ArtifactStore extends ArtifactReader {
  /**
   * Stores content and says its name. Content that is there already is written anew: that mends a changed one, and renews the
   * time from which a clean-up reckons.
   */
  put(tenant: string, content: ArtifactContent): Promise<Artifact>;
  has(tenant: string, hash: string): Promise<boolean>;
  /** @param only `storedBefore` an epoch millisecond, where it is given @returns whether it was there and is no more */
  remove(tenant: string, hash: string, only?: { storedBefore: number }): Promise<boolean>;
  /** Of every tenant, by tenant and digest. What comes or goes meanwhile may be in it or not. */
  list(): AsyncIterable<StoredArtifact>;
}
