/** What a workflow of Temporal's schedule is started as. */
export const cleanUpWorkflowType = 'cleanUp';

export interface CleanUpInput {
  /** Queues of the workers that share a data folder, one for each folder. */
  hostQueues: string[];
}

/** What was looked at in one store, and what nothing that is kept refers to. */
export interface Swept {
  looked_at: number;
  removed: number;
  removed_bytes: number;
}

/** What a clean-up did at one place. */
export interface CleanUpReport {
  claims: Swept;
  artifacts: Swept;
  /** Folders of ended work that Temporal does not keep any more, and writes that were never finished. */
  folders: number;
  /** Why something was left alone that might have been removed. */
  left: string[];
}

/** Of one host; null: its worker did not answer. */
export type HostCleaned = { host_queue: string; report: CleanUpReport | null };

export const nothingSwept = (): Swept => ({ looked_at: 0, removed: 0, removed_bytes: 0 });

/** Digests as text, with or without "sha256:" before them. */
const digest = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;
const claim = /"claim":"sha256:([0-9a-f]{64})"/g;

/** Every text of 64 hexadecimal digits that could name an artifact: to keep one too many does no harm. */
export const digestsIn = (text: string): string[] => text.match(digest) ?? [];

/** Those among them that stand for a payload, which may name further ones. */
export const claimsIn = (text: string): string[] => [...text.matchAll(claim)].map(([, digits = '']) => digits);
