import { withoutIdle } from './fairness.js';
import { grantCalls } from './grant.js';
import { type GovernorEvent, hear, type Refusal } from './hear.js';
import { withoutLost } from './ending.js';
import type { Grant, GovernorState } from './state.js';

export interface GovernorStep {
  governor: GovernorState;
  /** Calls that may be made now, each to be told to its worker; also those that asked again for a grant they have. */
  granted: Grant[];
  refused: Refusal[];
  /** Grants that nothing was heard of for too long. */
  expired: Grant[];
  /** When to step again though nothing is said, epoch milliseconds; null: never, as things are. */
  nextAt: number | null;
}

/** A model that has no limits of its own and is not paused needs no pool. */
const withoutIdlePools = (governor: GovernorState, now: number): GovernorState => ({
  ...governor,
  pools: governor.pools.filter(
    ({ model, pausedUntil, throttles }) =>
      model === null ||
      governor.settings.models.some((each) => each.model === model) ||
      pausedUntil > now ||
      (throttles > 0 && pausedUntil + governor.settings.longestBackoffMs > now),
  ),
});

/**
 * One step of a provider's governor: takes in what was said, ends grants whose time is over, and grants what may go out. Pure:
 * a workflow owns the state, tells the grants, and steps again at `nextAt`. `now` is epoch milliseconds and never goes back;
 * `jitter`, 0 to 1, is drawn by the caller.
 */
export const stepGovernor = (
  before: GovernorState,
  events: readonly GovernorEvent[],
  now: number,
  jitter = 0,
): GovernorStep => {
  const refused: Refusal[] = [];
  const expired: Grant[] = [];
  const again: Grant[] = [];
  let governor = before;
  for (const event of events) {
    const heard = hear(governor, event, now, jitter);
    governor = heard.governor;
    if (heard.refusal) refused.push(heard.refusal);
    if (heard.again) again.push(heard.again);
    expired.push(...(heard.expired ?? []));
  }
  const left = withoutLost(governor, now, ({ expiresAt }) => expiresAt <= now);
  expired.push(...left.expired);
  const { governor: after, granted, readyAt } = grantCalls(withoutIdlePools(left.governor, now), now);
  const dues = [...after.grants.map(({ expiresAt }) => expiresAt), ...(readyAt === null ? [] : [readyAt])];
  return {
    governor: withoutIdle(after),
    granted: [...again.filter(({ id }) => after.grants.some((grant) => grant.id === id)), ...granted],
    refused,
    expired,
    nextAt: dues.length > 0 ? Math.min(...dues) : null,
  };
};
