import { ApplicationFailure } from '@temporalio/workflow';
import { ParleyError, type ErrorCode } from '../src/domain/errors.js';

/** An error of ours as Temporal carries it: the code is its type, since classes do not survive serialization. */
export function refuse(error: unknown): unknown;
export function refuse(code: ErrorCode, message: string): ApplicationFailure;
export function refuse(codeOrError: unknown, message?: string): unknown {
  if (message !== undefined) {
    return ApplicationFailure.create({ message, type: String(codeOrError), nonRetryable: true });
  }
  if (!(codeOrError instanceof ParleyError)) return codeOrError;
  const { code, options } = codeOrError;
  return ApplicationFailure.create({
    message: codeOrError.message,
    type: code,
    nonRetryable: !codeOrError.retryable,
    details: [{ retry_after_ms: options.retryAfterMs ?? null }],
  });
}
