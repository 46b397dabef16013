import {
  isGrpcServiceError,
  QueryNotRegisteredError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ParleyError } from '../src/domain/errors.js';
import { fromFailure } from '../src/failure.js';
import { grpcStatus } from './grpc-status.js';

/** Codes with which Temporal says that it, or a worker, cannot answer now. */
const passing = new Set<number | undefined>([
  grpcStatus.UNAVAILABLE,
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.CANCELLED,
  grpcStatus.RESOURCE_EXHAUSTED,
  // A query without a worker that could answer it.
  grpcStatus.FAILED_PRECONDITION,
  grpcStatus.ABORTED,
]);

export const grpcError = (error: unknown): { code?: number; message: string } | null => {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isGrpcServiceError(current)) return current;
  }
  return null;
};

export const notFound = (kind: string, id: string): ParleyError =>
  new ParleyError('not_found', `There is no ${kind} ${id}.`);

/** What Temporal's client threw, in the words of the gateway: `kind` and `id` name the work that was asked for. */
export const translated = (error: unknown, kind: string, id: string): unknown => {
  const carried = fromFailure(error);
  if (carried) return carried;
  if (error instanceof WorkflowNotFoundError || error instanceof QueryNotRegisteredError) return notFound(kind, id);
  const grpc = grpcError(error);
  if (grpc?.code === grpcStatus.NOT_FOUND) return notFound(kind, id);
  // Terminated while no worker was there: no state was ever made that could be shown.
  if (grpc?.message.includes('closed before WorkflowTaskStarted')) {
    return new ParleyError('wrong_state', `${kind} ${id} was closed from outside before a worker began it.`);
  }
  const isLate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
  if (isLate || (grpc && passing.has(grpc.code))) {
    const why = grpc?.message ? ` (${grpc.message})` : '';
    return new ParleyError('unavailable', `Temporal or its workers do not answer now${why}; try again.`, {
      retryable: true,
      retryAfterMs: 2000,
    });
  }
  return error;
};
