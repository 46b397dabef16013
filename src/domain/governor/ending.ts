import { breakerHeard } from './breaker.js';
import { withUsed } from './fairness.js';
import { newPool, type Pool, withEnded, withGrant, withSent, withUnused } from './pool.js';
import { type Grant, type GovernorState, isOf, unlimited } from './state.js';

/** How a granted call ended. */
export interface Ending {
  /** `throttled`: refused for its limits (429); `failed`: the provider could not; `unused`: it was not sent. */
  outcome: 'answered' | 'throttled' | 'failed' | 'unused';
  /** What it used; null: not known, and counted as what was granted. */
  tokens: number | null;
  /** When it was sent, in milliseconds before this was said. */
  agoMs: number;
  /** Retry-After of a throttled call; null: the provider did not say. */
  retryAfterMs: number | null;
}

const withPools = (governor: GovernorState, model: string, change: (pool: Pool) => Pool): GovernorState => ({
  ...governor,
  pools: governor.pools.map((pool) => (isOf(pool, model) ? change(pool) : pool)),
});

/** A pool that comes late holds what is under way already. */
export const poolWith = ({ grants, settings }: GovernorState, pool: Pool): Pool =>
  grants
    .filter(({ model }) => model === pool.model)
    .reduce((held, { tokens, grantedAt, sentAt }) => {
      const granted = withGrant(held, tokens, grantedAt, settings);
      return sentAt === null ? granted : withSent(granted, tokens, sentAt, sentAt, settings);
    }, pool);

/** The call of a grant was sent at `at`; told once. */
export const withSentGrant = (governor: GovernorState, grant: Grant, at: number, now: number): GovernorState => {
  if (grant.sentAt !== null) return governor;
  const { settings } = governor;
  const grants = governor.grants.map((each) => (each === grant ? { ...grant, sentAt: at } : each));
  return withPools({ ...governor, grants }, grant.model, (pool) => withSent(pool, grant.tokens, at, now, settings));
};

const withoutGrant = (governor: GovernorState, { id }: Grant): GovernorState => ({
  ...governor,
  grants: governor.grants.filter((grant) => grant.id !== id),
});

/** The call is over: what it used counts for one window from `at`, unless it is known when it was sent. */
const withSettled = (governor: GovernorState, grant: Grant, used: number, at: number, now: number): GovernorState => {
  const { settings } = governor;
  const left = withPools(withoutGrant(withSentGrant(governor, grant, at, now), grant), grant.model, (pool) =>
    withEnded(pool, grant.tokens, used, grant.sentAt ?? at, settings),
  );
  return withUsed(left, grant, used);
};

/**
 * The model takes no calls for as long as the provider said, or longer each time that it does not say. `jitter`, 0 to 1, makes
 * a pause up to a tenth longer than was said, or a backoff from half to the whole of it.
 */
const withPause = (
  governor: GovernorState,
  model: string,
  retryAfterMs: number | null,
  now: number,
  jitter: number,
): GovernorState => {
  const { backoffMs, longestBackoffMs } = governor.settings;
  const pools = governor.pools.some((pool) => pool.model === model)
    ? governor.pools
    : [...governor.pools, poolWith(governor, newPool(model, unlimited))];
  const paused = (pool: Pool): Pool => {
    const backoff = Math.min(longestBackoffMs, backoffMs * 2 ** Math.min(30, pool.throttles)) * (0.5 + jitter / 2);
    const pauseMs = Math.ceil(retryAfterMs === null ? backoff : retryAfterMs * (1 + jitter / 10));
    return { ...pool, throttles: pool.throttles + 1, pausedUntil: Math.max(pool.pausedUntil, now + pauseMs) };
  };
  return { ...governor, pools: pools.map((pool) => (pool.model === model ? paused(pool) : pool)) };
};

export const withEnding = (
  governor: GovernorState,
  grant: Grant,
  { outcome, tokens, agoMs, retryAfterMs }: Ending,
  now: number,
  jitter: number,
): GovernorState => {
  const { settings } = governor;
  const { model } = grant;
  if (outcome === 'unused' && grant.sentAt === null) {
    const given = withPools(withoutGrant(governor, grant), model, (pool) => withUnused(pool, grant.tokens, settings));
    return withUsed(given, grant, null);
  }
  const settled = withSettled(governor, grant, tokens ?? grant.tokens, now - Math.max(0, agoMs), now);
  if (outcome === 'throttled') return withPause(settled, model, retryAfterMs, now, jitter);
  if (outcome === 'unused') return settled;
  const isAnswered = outcome === 'answered';
  const event = isAnswered ? 'ANSWERED' : 'FAILED';
  const breaker = breakerHeard(settled.breaker, event, grant.breakerEpoch, settings.breaker, now);
  const calm = (pool: Pool): Pool => (isAnswered && pool.model === model ? { ...pool, throttles: 0 } : pool);
  return { ...settled, breaker, pools: settled.pools.map(calm) };
};

/** Nobody answers for these grants any more. Each may have been sent at the last moment, so that it counts whole, from now. */
export const withoutLost = (
  governor: GovernorState,
  now: number,
  isLost: (grant: Grant) => boolean,
): { governor: GovernorState; expired: Grant[] } => {
  const expired = governor.grants.filter(isLost);
  const settle = (left: GovernorState, grant: Grant): GovernorState => withSettled(left, grant, grant.tokens, now, now);
  return { governor: expired.reduce(settle, governor), expired };
};
