import { isCancellation, proxyActivities } from '@temporalio/workflow';
import type { CleanUpActivities } from '../activities/clean-up-activities.js';
import type { CleanUpInput, CleanUpReport, HostCleaned } from '../src/domain/clean-up.js';

const cleaning = (taskQueue: string) =>
  proxyActivities<CleanUpActivities>({
    taskQueue,
    // A machine that is away has its turn the next time.
    scheduleToStartTimeout: '5 minutes',
    startToCloseTimeout: '6 hours',
    heartbeatTimeout: '5 minutes',
    retry: { initialInterval: '10 seconds', maximumAttempts: 3 },
  });

/** Scheduled: one host after the other removes what nothing retained refers to (spec 07 "Retention"). */
export const cleanUp = async ({ hostQueues }: CleanUpInput): Promise<HostCleaned[]> => {
  const cleaned: HostCleaned[] = [];
  let isBucketClean = false;
  for (const queue of hostQueues) {
    let report: CleanUpReport | null = null;
    try {
      report = await cleaning(queue).cleanUpHost(!isBucketClean);
    } catch (error) {
      // The others are cleaned all the same; its own failure stands in this history.
      if (isCancellation(error)) throw error;
    }
    isBucketClean ||= report !== null;
    cleaned.push({ host_queue: queue, report });
  }
  return cleaned;
};
