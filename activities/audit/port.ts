import type { AuditEntry, AuditFilter, AuditList, AuditReceipt, AuditVerification } from '../../src/contracts/audit.js';

/** The append-only log of what was decided and done (spec 02 "Audit"). */
export interface AuditPort {
  /**
   * Appends the entries in their order, each once per key however often it is asked for.
   * @returns where each stands, also those that stood there before
   * @throws ParleyError unavailable (retryable) when the log cannot be written now; invalid_request for an entry that is none
   */
  append(entries: readonly AuditEntry[], signal: AbortSignal): Promise<AuditReceipt[]>;
}

export interface AuditQuery extends Pick<AuditFilter, 'work' | 'tenant'> {
  /** `next_after` of the page before. */
  after?: string | undefined;
  /** 1–200. */
  limit: number;
}

/** The logs that lie on this machine, for whoever may read them. */
export interface AuditReader {
  /** In the order of the chains, then of their numbers. @throws ParleyError invalid_request for an `after` that is none of ours */
  list(query: AuditQuery, signal: AbortSignal): Promise<AuditList>;
  /** Checks every chain, from its first record to its head. */
  verification(): Promise<AuditVerification>;
  close(): void;
}
