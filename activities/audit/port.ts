import type { AuditEntry, AuditReceipt } from '../../src/contracts/audit.js';

/** The append-only log of what was decided and done (spec 02 "Audit"). */
export interface AuditPort {
  /**
   * Appends the entries in their order, each once per key however often it is asked for.
   * @returns where each stands, also those that stood there before
   * @throws ParleyError unavailable (retryable) when the log cannot be written now; invalid_request for an entry that is none
   */
  append(entries: readonly AuditEntry[], signal: AbortSignal): Promise<AuditReceipt[]>;
}
