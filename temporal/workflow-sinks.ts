import type { InjectedSinks } from '@temporalio/worker';
import type { BusPort } from '../src/contracts/bus.js';
import type { ParleySinks } from '../workflows/options.js';

/** What workflows tell the bus: that there is something to ask them. Not during replay, which has nothing new to say. */
export const workflowSinks = (bus: BusPort): InjectedSinks<ParleySinks> => ({
  bus: {
    hint: { fn: ({ workflowId }, type) => bus.publish(workflowId, { type }), callDuringReplay: false },
    partial: {
      fn: ({ workflowId }, piece) => {
        if (bus.isWatched(workflowId)) bus.publish(workflowId, { type: 'partial', ...piece });
      },
      callDuringReplay: false,
    },
  },
  // Only a replay under test listens.
  trace: { outcome: { fn: () => {}, callDuringReplay: false } },
});
