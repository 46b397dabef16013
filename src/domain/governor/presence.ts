import type { GovernorEvent } from './hear.js';
import { usedIn } from './sliding-window.js';
import type { GovernorState } from './state.js';

/** Workers that have calls waiting or under way. */
const busyWorkers = ({ queue, grants }: GovernorState): Set<string> =>
  new Set([...queue, ...grants].map(({ worker }) => worker));

/** Of whom nothing was heard for a whole lease, though they have calls waiting: nobody is there to make them. */
export const silentWorkers = (
  governor: GovernorState,
  heard: Readonly<Record<string, number>>,
  now: number,
): GovernorEvent[] =>
  [...busyWorkers(governor)]
    .filter((worker) => (heard[worker] ?? 0) + governor.settings.leaseMs <= now)
    .map((worker) => ({ type: 'dead', worker }));

/** When the first of them will have been silent for too long, epoch milliseconds; Infinity: nobody is waited for. */
export const silentAt = (governor: GovernorState, heard: Readonly<Record<string, number>>): number =>
  [...busyWorkers(governor)].reduce(
    (at, worker) => Math.min(at, (heard[worker] ?? 0) + governor.settings.leaseMs),
    Infinity,
  );

/** What was heard of workers that still matter. */
export const heardOfBusy = (
  governor: GovernorState,
  heard: Readonly<Record<string, number>>,
): Record<string, number> => {
  const busy = busyWorkers(governor);
  return Object.fromEntries(Object.entries(heard).filter(([worker]) => busy.has(worker)));
};

/** Whether another governor could take its place that knows nothing: nothing waits, is under way, or counts. */
export const isForgettable = ({ queue, grants, pools, breaker, settings }: GovernorState, now: number): boolean =>
  queue.length === 0 &&
  grants.length === 0 &&
  (breaker.state !== 'OPEN' || breaker.coolUntil <= now) &&
  pools.every(
    (pool) =>
      pool.pausedUntil <= now &&
      usedIn(pool.requests, now, settings.windowMs) === 0 &&
      usedIn(pool.tokens, now, settings.windowMs) === 0,
  );
