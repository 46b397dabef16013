/** Codes of spec 01 and details 1.6, and the few the gateway adds. Stable: clients branch on them. */
export type ErrorCode =
  | 'EPROTO'
  | 'ESEQ_RETRY'
  | 'EWINDOW'
  | 'EBUDGET'
  | 'ETIMEOUT'
  | 'EAGENTDOWN'
  | 'ESEC'
  | 'ECONSENSUS'
  | 'EPREEMPT'
  | 'EWINDOW_AGENT'
  | 'EDRAINING'
  | 'invalid_transition'
  | 'invalid_request'
  | 'not_found'
  | 'corrupt'
  | 'conflict'
  | 'gone'
  | 'wrong_state'
  | 'unauthorized'
  | 'forbidden'
  | 'unavailable';

/** The one family of errors: a stable code, a message that says what would be right, whether trying again can help. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly options: { retryable?: boolean; retryAfterMs?: number; details?: Record<string, unknown> } = {},
  ) {
    super(message);
  }
  get retryable(): boolean {
    return this.options.retryable ?? false;
  }
}

/** What a machine's table does not list is refused and changes nothing (spec 01). */
export class InvalidTransitionError extends ParleyError {
  override readonly name = 'InvalidTransitionError';
  constructor(machine: string, state: string, event: string, accepted: readonly string[]) {
    const takes = accepted.length > 0 ? `it accepts ${accepted.join(', ')}` : 'it accepts nothing more';
    super('invalid_transition', `${machine} in ${state} cannot take ${event}; ${takes}.`);
  }
}
