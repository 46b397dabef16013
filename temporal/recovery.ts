import { ActivityNotFoundError, ApplicationFailure, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { isDead } from './identity.js';

export interface RecoveryOptions {
  client: Client;
  taskQueue: string;
  /** How many workflows are asked at once. */
  concurrency?: number;
  isDeadIdentity?: (identity: string) => boolean;
}

/** Number of PENDING_ACTIVITY_STATE_STARTED in the API. */
const started = 2;

/**
 * Fails the attempts of activities whose worker died on this host, so that they are tried again at once and not when their
 * heartbeat has lapsed. Call it once the new worker is polling.
 * @returns how many attempts it failed
 */
export async function failDeadAttempts({
  client,
  taskQueue,
  concurrency = 16,
  isDeadIdentity = isDead,
}: RecoveryOptions): Promise<number> {
  const open = client.workflow
    .list({ query: `ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'` })
    [Symbol.asyncIterator]();
  let failed = 0;
  const recoverNext = async (): Promise<void> => {
    for (;;) {
      const next = await open.next();
      if (next.done) return;
      const count = await recover(client, next.value, isDeadIdentity);
      failed += count; // not in one expression: `failed` would be read before the await
    }
  };
  // The iterator queues concurrent calls of `next`, so each workflow goes to one of them.
  await Promise.all(Array.from({ length: concurrency }, recoverNext));
  return failed;
}

async function recover(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
  isDeadIdentity: (identity: string) => boolean,
): Promise<number> {
  let failed = 0;
  try {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
    for (const { activityId, state, lastWorkerIdentity } of raw.pendingActivities ?? []) {
      if (state !== started || !activityId || !lastWorkerIdentity || !isDeadIdentity(lastWorkerIdentity)) continue;
      // The attempt did nothing wrong: no wait for the next one.
      const failure = ApplicationFailure.create({
        type: 'WorkerDied',
        message: `the worker ${lastWorkerIdentity} ended during this attempt`,
        nextRetryDelay: '1ms',
      });
      await client.activity.fail({ workflowId, runId, activityId }, failure);
      failed++;
    }
  } catch (error) {
    // It ended, or was tried again, between the question and the answer: nothing left to do for it.
    if (!(error instanceof WorkflowNotFoundError) && !(error instanceof ActivityNotFoundError)) throw error;
  }
  return failed;
}
