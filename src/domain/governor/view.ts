import type { ProviderStatus } from '../../contracts/provider-limits.js';
import type { Tier } from '../../contracts/session.js';
import { iso } from '../instant.js';
import type { BreakerState } from './breaker.js';
import { type Pool, usage } from './pool.js';
import type { GovernorState } from './state.js';

const breakerWords: Readonly<Record<BreakerState, ProviderStatus['breaker']>> = {
  CLOSED: 'closed',
  OPEN: 'open',
  HALF_OPEN: 'half_open',
};

const limitsOf = (pool: Pool, now: number, windowMs: number): ProviderStatus['limits'][number] => {
  const { requests, tokens } = usage(pool, now, windowMs);
  return {
    model: pool.model,
    requests: { used: requests, limit: pool.limits.requests },
    tokens: { used: tokens, limit: pool.limits.tokens },
    concurrency: { used: pool.open, limit: pool.limits.concurrency },
    paused_until: pool.pausedUntil > now ? iso(pool.pausedUntil) : null,
  };
};

/** How a provider stands, on the wire: what is used of its limits, and who waits for it. */
export const providerStatus = (governor: GovernorState, now: number): ProviderStatus => {
  const { settings, breaker, pools, queue, grants } = governor;
  const tenants = [...new Set([...queue, ...grants].map(({ tenant }) => tenant))];
  return {
    provider: settings.provider,
    window_ms: settings.windowMs,
    breaker: breakerWords[breaker.state],
    open_until: breaker.state === 'OPEN' ? iso(breaker.coolUntil) : null,
    limits: pools.map((pool) => limitsOf(pool, now, settings.windowMs)),
    tenants: tenants.map((tenant) => {
      const waiting = queue.filter((call) => call.tenant === tenant);
      const [oldest] = waiting;
      const of = (tier: Tier): number => waiting.filter((call) => call.tier === tier).length;
      return {
        tenant,
        waiting: waiting.length,
        waiting_by_tier: { gold: of('gold'), silver: of('silver'), bronze: of('bronze') },
        under_way: grants.filter((grant) => grant.tenant === tenant).length,
        oldest_since: oldest ? iso(oldest.since) : null,
      };
    }),
  };
};
