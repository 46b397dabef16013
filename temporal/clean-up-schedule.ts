import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { type CleanUpInput, cleanUpWorkflowType } from '../src/domain/clean-up.js';
import { parleyTaskQueue } from './task-queue.js';

export interface CleanUpScheduleOptions {
  /** Of the workers that share this data folder. */
  hostQueue: string;
  taskQueue?: string;
  scheduleId?: string;
}

export const cleanUpScheduleId = 'parley-clean-up';

/**
 * Sees to it that the namespace is cleaned every six hours, at this host too. One schedule serves all hosts; whoever starts
 * first makes it.
 */
export const ensureCleanUp = async (client: Client, options: CleanUpScheduleOptions): Promise<void> => {
  const { hostQueue, taskQueue = parleyTaskQueue, scheduleId = cleanUpScheduleId } = options;
  const actionFor = (input: CleanUpInput) => ({
    type: 'startWorkflow' as const,
    workflowType: cleanUpWorkflowType,
    workflowId: scheduleId,
    taskQueue,
    args: [input],
  });
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: '6 hours' }], jitter: '10 minutes' },
      action: actionFor({ hostQueues: [hostQueue] }),
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 minute' },
    });
    return;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  const handle = client.schedule.getHandle(scheduleId);
  const hostQueuesOf = (args: readonly unknown[] | undefined): string[] =>
    (args?.[0] as CleanUpInput | undefined)?.hostQueues ?? [];
  const { action } = await handle.describe();
  if (hostQueuesOf(action.args).includes(hostQueue)) return;
  await handle.update(({ spec, policies, state, action: current }) => ({
    spec,
    policies,
    state,
    action: actionFor({ hostQueues: [...hostQueuesOf(current.args), hostQueue] }),
  }));
};
