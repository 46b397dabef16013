import type { InjectedSinks } from '@temporalio/worker';
import type { BusPort } from '../src/contracts/bus.js';
import type { BusSinks } from '../workflows/options.js';

/** What workflows tell the bus: that there is something to ask them. Not during replay, which has nothing new to say. */
export const busSinks = (bus: BusPort): InjectedSinks<BusSinks> => ({
  bus: { hint: { fn: ({ workflowId }, type) => bus.publish(workflowId, { type }), callDuringReplay: false } },
});
