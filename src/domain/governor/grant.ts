import { breakerStep } from './breaker.js';
import { nextCall, withServed } from './fairness.js';
import { type Pool, readyAt, withGrant } from './pool.js';
import { type Grant, type GovernorState, isOf, type QueuedCall } from './state.js';

export interface Granted {
  governor: GovernorState;
  granted: Grant[];
  /** When the first call that waits for time alone can go out, epoch milliseconds; null: none does. */
  readyAt: number | null;
}

const withCall = (governor: GovernorState, call: QueuedCall, now: number): GovernorState => {
  const { settings, breaker } = governor;
  const grant: Grant = {
    ...call,
    grantedAt: now,
    expiresAt: now + settings.leaseMs,
    sentAt: null,
    breakerEpoch: breaker.epoch,
  };
  // Booked while it still stands in the queue: it is one of those that the fair line is drawn by.
  const served = withServed(governor, call);
  return {
    ...served,
    queue: served.queue.filter((each) => each !== call),
    grants: [...served.grants, grant],
    pools: served.pools.map((pool) => (isOf(pool, call.model) ? withGrant(pool, call.tokens, now, settings) : pool)),
  };
};

/** A breaker whose time is over lets one call try the provider. */
const cooled = (governor: GovernorState, now: number): GovernorState => {
  const { breaker, settings } = governor;
  if (breaker.state !== 'OPEN' || now < breaker.coolUntil) return governor;
  return { ...governor, breaker: breakerStep(breaker, 'COOLED', settings.breaker, now) };
};

const isTrying = ({ breaker, grants }: GovernorState): boolean =>
  breaker.state === 'HALF_OPEN' && grants.some(({ breakerEpoch }) => breakerEpoch === breaker.epoch);

/**
 * Grants what may go out now, in turn. A call that has to wait keeps its place: no later one overtakes it in a pool that it waits
 * for, so that a large one is not starved by small ones; calls of other models go on.
 */
export const grantCalls = (before: GovernorState, now: number): Granted => {
  let governor = cooled(before, now);
  const { breaker, settings } = governor;
  if (breaker.state === 'OPEN')
    return { governor, granted: [], readyAt: governor.queue.length > 0 ? breaker.coolUntil : null };
  const taken = new Set<Pool['model']>();
  const first = governor.grants.length;
  let soonest = Infinity;
  while (!isTrying(governor)) {
    const call = nextCall(governor, now, ({ model }) => !taken.has(null) && !taken.has(model));
    if (!call) break;
    const waits = governor.pools
      .filter((pool) => isOf(pool, call.model))
      .map((pool) => ({ model: pool.model, at: readyAt(pool, call.tokens, now, settings) }));
    const at = Math.max(...waits.map((wait) => wait.at));
    if (at <= now) {
      governor = withCall(governor, call, now);
      continue;
    }
    soonest = Math.min(soonest, at);
    for (const wait of waits) if (wait.at > now) taken.add(wait.model);
  }
  return {
    governor,
    granted: governor.grants.slice(first),
    readyAt: Number.isFinite(soonest) ? soonest : null,
  };
};
