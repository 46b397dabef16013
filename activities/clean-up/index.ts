import type { CleanUpReport } from '../../src/domain/clean-up.js';
import type { Stores } from '../artifacts/index.js';
import { sweepFolders } from './folders.js';
import type { HistoriesPort } from './histories.js';
import { emptyReport, sweepStores } from './stores.js';

export interface CleanUpPorts {
  stores: Stores;
  /** Whether the stores are in a bucket that other hosts use too. */
  isBucket: boolean;
  dataFolder: string;
  histories: HistoriesPort;
  /** Of the claims: those of other namespaces are theirs. */
  scope: string;
  now: () => number;
}

export interface CleanUpRequest {
  /** Whether the bucket is this one's to clean; one host does that for all. */
  withBucket: boolean;
  isDryRun?: boolean;
  signal?: AbortSignal;
  onProgress?: () => void;
}

/** What is younger is spared: it may have been stored for something that is still on its way into a history. */
const spareMs = 3_600_000;

export type CleanUp = (request: CleanUpRequest) => Promise<CleanUpReport>;

/** Removes what nothing that Temporal keeps refers to (spec 07 "Retention"). It may run anywhere at any time, and twice. */
export const createCleanUp =
  ({ stores, isBucket, dataFolder, histories, scope, now }: CleanUpPorts): CleanUp =>
  async ({ withBucket, isDryRun = false, signal = new AbortController().signal, onProgress = () => undefined }) => {
    const report = emptyReport();
    const namespaceId = await histories.namespaceId();
    const owner = await stores.owner(namespaceId);
    if (owner !== namespaceId) {
      report.left.push(
        `everything: these files belong to the Temporal namespace ${owner}, and this is ${namespaceId}, which does not know what that ` +
          'one still needs. If that one is gone for good, remove the file "owner" beside them.',
      );
      return report;
    }
    const before = now() - spareMs;
    const common = { histories, isDryRun, signal, onProgress };
    if (!isBucket || withBucket) await sweepStores({ ...common, stores, scope, storedBefore: before }, report);
    report.folders = await sweepFolders({ ...common, dataFolder, touchedBefore: before });
    return report;
  };
