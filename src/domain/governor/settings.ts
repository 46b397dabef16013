import type { ProviderLimits, TenantWeights } from '../../contracts/provider-limits.js';
import type { PoolLimits } from './pool.js';
import type { GovernorSettings } from './state.js';

/** A worker says that it is alive a few times within a lease; where windows are short, so is it. */
const shortestLeaseMs = 5_000;
const longestLeaseMs = 30_000;
const maxQueued = 10_000;

const poolLimits = (
  given: Pick<ProviderLimits, 'requests' | 'tokens'> & { concurrency?: number | undefined },
): PoolLimits => ({
  requests: given.requests ?? null,
  tokens: given.tokens ?? null,
  concurrency: given.concurrency ?? null,
});

/** What the operator says of a provider, with what he leaves to Parley. */
export const governorSettings = (
  provider: string,
  limits: ProviderLimits,
  weights: TenantWeights = {},
): GovernorSettings => ({
  provider,
  windowMs: limits.window_ms,
  burst: limits.burst,
  limits: poolLimits(limits),
  models: Object.entries(limits.models).map(([model, given]) => ({ model, limits: poolLimits(given) })),
  weights: Object.entries(weights).map(([tenant, weight]) => ({ tenant, weight })),
  leaseMs: Math.min(longestLeaseMs, Math.max(shortestLeaseMs, limits.window_ms)),
  agingMs: limits.window_ms,
  breaker: { failures: 5, coolMs: 5_000, longestCoolMs: 60_000 },
  backoffMs: 1_000,
  longestBackoffMs: 60_000,
  maxQueued,
});
