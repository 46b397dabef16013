import { type CleanUpReport, claimsIn, digestsIn, nothingSwept } from '../../src/domain/clean-up.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { Stores } from '../artifacts/index.js';
import { hashOf } from '../artifacts/names.js';
import { bytesOf } from '../artifacts/read.js';
import type { ArtifactStore } from '../artifacts/port.js';
import type { HistoriesPort } from './histories.js';

export interface SweepOptions {
  stores: Stores;
  histories: HistoriesPort;
  /** Of the claims: those of other namespaces are theirs. */
  scope: string;
  /** What was stored after it, in epoch milliseconds, is spared: what refers to it may still be on its way. */
  storedBefore: number;
  isDryRun: boolean;
  signal: AbortSignal;
  /** Called for every page of history and every removal. */
  onProgress: () => void;
  /** Most files that one pass looks for; the next pass goes on. */
  maxCandidates?: number;
}

interface Candidate {
  store: 'claims' | 'artifacts';
  tenant: string;
  bytes: number;
}

/** By digits; the same content of several tenants is several candidates. */
type Candidates = Map<string, Candidate[]>;

const claimsRemembered = 100_000;

const candidatesOf = async (options: SweepOptions, report: CleanUpReport): Promise<Candidates> => {
  const { stores, scope, storedBefore, maxCandidates = 50_000 } = options;
  const found: Candidates = new Map();
  let count = 0;
  for (const store of ['claims', 'artifacts'] as const) {
    for await (const { tenant, hash, size_bytes: bytes, stored_at: at } of stores[store].list()) {
      if (store === 'claims' && tenant !== scope) continue;
      report[store].looked_at += 1;
      if (Date.parse(at) >= storedBefore || count >= maxCandidates) continue;
      count += 1;
      const digits = hash.slice('sha256:'.length);
      found.set(digits, [...(found.get(digits) ?? []), { store, tenant, bytes }]);
    }
  }
  return found;
};

/** The content of a claim, or null with a word on why: what it refers to is not known then. */
const contentOf = async (claims: ArtifactStore, scope: string, digits: string): Promise<Buffer | string> => {
  try {
    const opened = await claims.open(scope, `sha256:${digits}`);
    return opened ? await bytesOf(opened) : `the payload sha256:${digits} is not there`;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'corrupt') return error.message;
    throw error;
  }
};

/**
 * Marks and sweeps: everything stored before a moment is a candidate, every digest in what Temporal keeps strikes one off, and
 * what is left is removed. What is stored in the meantime again is spared.
 */
export const sweepStores = async (options: SweepOptions, report: CleanUpReport): Promise<void> => {
  const { stores, histories, scope, storedBefore, isDryRun, signal, onProgress } = options;
  const candidates = await candidatesOf(options, report);
  if (candidates.size === 0) return;
  const read = new Set<string>();
  let unread: string | null = null;
  const mark = async (text: string): Promise<void> => {
    for (const digits of digestsIn(text)) candidates.delete(digits);
    for (const digits of claimsIn(text)) {
      if (read.has(digits)) continue;
      if (read.size < claimsRemembered) read.add(digits);
      const content = await contentOf(stores.claims, scope, digits);
      if (typeof content === 'string') unread = content;
      else for (const inner of digestsIn(content.toString('latin1'))) candidates.delete(inner);
    }
  };
  for await (const text of histories.texts(signal)) {
    await mark(text);
    onProgress();
  }
  if (unread !== null) report.left.push(`artifacts, since what refers to them cannot be read whole: ${String(unread)}`);
  for (const [digits, each] of candidates) {
    signal.throwIfAborted();
    const hash = hashOf(digits);
    if (hash === null) continue;
    for (const { store, tenant, bytes } of each) {
      if (store === 'artifacts' && unread !== null) continue;
      if (!isDryRun && !(await stores[store].remove(tenant, hash, { storedBefore }))) continue;
      report[store].removed += 1;
      report[store].removed_bytes += bytes;
      onProgress();
    }
  }
};

export const emptyReport = (): CleanUpReport => ({
  claims: nothingSwept(),
  artifacts: nothingSwept(),
  folders: 0,
  left: [],
});
