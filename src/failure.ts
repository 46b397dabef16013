import { ApplicationFailure } from '@temporalio/common';
import { ParleyError, type ErrorCode } from './domain/errors.js';

/** Classes do not survive serialization: the code travels as the failure's type, the rest as its first detail. */
interface Details {
  retry_after_ms?: number;
  [name: string]: unknown;
}

const codes = {
  EPROTO: true,
  ESEQ_RETRY: true,
  EWINDOW: true,
  EBUDGET: true,
  ETIMEOUT: true,
  EAGENTDOWN: true,
  ESEC: true,
  ECONSENSUS: true,
  EPREEMPT: true,
  EWINDOW_AGENT: true,
  EDRAINING: true,
  invalid_transition: true,
  invalid_request: true,
  not_found: true,
  corrupt: true,
  conflict: true,
  gone: true,
  wrong_state: true,
  unauthorized: true,
  forbidden: true,
  unavailable: true,
} as const satisfies Record<ErrorCode, true>;

const isCode = (type: string | null | undefined): type is ErrorCode =>
  typeof type === 'string' && Object.hasOwn(codes, type);

/** A ParleyError as the failure that Temporal carries. */
export const toFailure = (error: ParleyError): ApplicationFailure =>
  ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable: !error.retryable,
    details: [
      {
        ...error.options.details,
        ...(error.options.retryAfterMs !== undefined && { retry_after_ms: error.options.retryAfterMs }),
      } satisfies Details,
    ],
    cause: error,
  });

/** The ParleyError that a failure carries, itself or in its causes; null when there is none. */
export const fromFailure = (error: unknown): ParleyError | null => {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ParleyError) return current;
    if (!(current instanceof ApplicationFailure) || !isCode(current.type)) continue;
    const { retry_after_ms: retryAfterMs, ...details } = (current.details?.[0] ?? {}) as Details;
    return new ParleyError(current.type, current.message, {
      retryable: current.nonRetryable !== true,
      ...(typeof retryAfterMs === 'number' && { retryAfterMs }),
      ...(Object.keys(details).length > 0 && { details }),
    });
  }
  return null;
};
