import type { Client } from '@temporalio/client';
import pRetry from 'p-retry';
import { grpcStatus } from './grpc-status.js';
import { grpcError } from './temporal-errors.js';

/** How long the first try waits; each further one waits twice as long. A query is answered within milliseconds. */
const firstTryMs = 1_500;
/** A deadline may be told so much before it. */
const earlyMs = 50;
const noWorker = grpcStatus.FAILED_PRECONDITION;

/**
 * Queries a workflow within `milliseconds`. One that comes while a worker is at the workflow's task can be lost between server and
 * worker, and is told nothing until its deadline (seen with one of about 130 that came as the task closed the workflow, and with
 * nearly each where two gateways ask): so it is asked again before. A query changes nothing, however often it is answered.
 * @throws what `ask` threw: a gRPC error where there is no answer by then
 */
export const askQuery = <T>(
  client: Pick<Client, 'withDeadline'>,
  milliseconds: number,
  ask: () => Promise<T>,
): Promise<T> => {
  const due = Date.now() + milliseconds;
  let tryDue = due;
  const askOnce = (tries: number): Promise<T> => {
    tryDue = Math.min(due, Date.now() + firstTryMs * 2 ** (tries - 1));
    return client.withDeadline(tryDue, ask);
  };
  const isLost = ({ error }: { error: Error }): boolean => {
    const code = grpcError(error)?.code;
    // That no worker has asked for tasks lately is told before the deadline: one may come.
    return tryDue < due && code !== undefined && (code === noWorker || Date.now() >= tryDue - earlyMs);
  };
  return pRetry(askOnce, { retries: Infinity, minTimeout: 0, shouldRetry: isLost });
};
