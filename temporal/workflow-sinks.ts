import type { InjectedSinks } from '@temporalio/worker';
import type { WorkMetrics } from '../activities/metrics.js';
import type { BusPort } from '../src/contracts/bus.js';
import type { ParleySinks } from '../workflows/options.js';

/** What workflows tell the bus and the metrics. Not during replay, which has nothing new to say. */
export const workflowSinks = (bus: BusPort, metrics: WorkMetrics): InjectedSinks<ParleySinks> => ({
  bus: {
    hint: { fn: ({ workflowId }, type) => bus.publish(workflowId, { type }), callDuringReplay: false },
    partial: {
      fn: ({ workflowId }, piece) => {
        if (bus.isWatched(workflowId)) bus.publish(workflowId, { type: 'partial', ...piece });
      },
      callDuringReplay: false,
    },
  },
  trace: {
    outcome: { fn: (_, { kind, state }) => metrics.workEnded(kind, state), callDuringReplay: false },
  },
});
