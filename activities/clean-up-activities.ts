import { Context } from '@temporalio/activity';
import type { CleanUpReport } from '../src/domain/clean-up.js';
import type { CleanUp } from './clean-up/index.js';

export interface CleanUpActivityPorts {
  cleanUp: CleanUp;
  onCleaned: (report: CleanUpReport) => void;
}

/** There is progress for every text of a history: a beat for each would be the most of the work. */
const beatMs = 5_000;

export const createCleanUpActivities = ({ cleanUp, onCleaned }: CleanUpActivityPorts) => ({
  cleanUpHost: async (withBucket: boolean): Promise<CleanUpReport> => {
    const context = Context.current();
    const { cancellationSignal: signal } = context;
    let beatAt = 0;
    const onProgress = (): void => {
      if (Date.now() - beatAt < beatMs) return;
      beatAt = Date.now();
      context.heartbeat();
    };
    const report = await cleanUp({ withBucket, signal, onProgress });
    onCleaned(report);
    return report;
  },
});
export type CleanUpActivities = ReturnType<typeof createCleanUpActivities>;
