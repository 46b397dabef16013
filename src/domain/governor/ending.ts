import { breakerHeard } from './breaker.js';
import type { GovernorDraft } from './draft.js';
import { correct } from './fairness.js';
import { newPool, type Pool, withEnded, withGrant, withSent, withUnused } from './pool.js';
import { type Grant, unlimited } from './state.js';

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

/** A pool that comes late holds what is under way already. */
export const poolWith = ({ grants, settings }: GovernorDraft, pool: Pool): Pool =>
  [...grants.values()]
    .filter(({ model }) => model === pool.model)
    .reduce((held, { tokens, grantedAt, sentAt }) => {
      const granted = withGrant(held, tokens, grantedAt, settings);
      return sentAt === null ? granted : withSent(granted, tokens, sentAt, sentAt, settings);
    }, pool);

/** The call of a grant was sent at `at`; told once. */
export const noteSent = (draft: GovernorDraft, grant: Grant, at: number, now: number): void => {
  if (grant.sentAt !== null) return;
  const { settings, grants } = draft;
  grants.set(grant.id, { ...grant, sentAt: at });
  draft.changePools(grant.model, (pool) => withSent(pool, grant.tokens, at, now, settings));
};

/** The call is over: what it used counts for one window from `at`, unless it is known when it was sent. */
const settle = (draft: GovernorDraft, grant: Grant, used: number, at: number, now: number): void => {
  const { settings } = draft;
  noteSent(draft, grant, at, now);
  draft.changePools(grant.model, (pool) => withEnded(pool, grant.tokens, used, grant.sentAt ?? at, settings));
  correct(draft, grant, used);
  draft.end(grant);
};

/**
 * The model takes no calls for as long as the provider said, or longer each time that it does not say. `jitter`, 0 to 1, makes
 * a pause up to a tenth longer than was said, or a backoff from half to the whole of it.
 */
const pause = (draft: GovernorDraft, model: string, retryAfterMs: number | null, now: number, jitter: number): void => {
  const { backoffMs, longestBackoffMs } = draft.settings;
  if (!draft.pools.some((pool) => pool.model === model)) {
    draft.pools = [...draft.pools, poolWith(draft, newPool(model, unlimited))];
  }
  draft.pools = draft.pools.map((pool) => {
    if (pool.model !== model) return pool;
    const backoff = Math.min(longestBackoffMs, backoffMs * 2 ** Math.min(30, pool.throttles)) * (0.5 + jitter / 2);
    const pauseMs = Math.ceil(retryAfterMs === null ? backoff : retryAfterMs * (1 + jitter / 10));
    return { ...pool, throttles: pool.throttles + 1, pausedUntil: Math.max(pool.pausedUntil, now + pauseMs) };
  });
};

export const endGrant = (
  draft: GovernorDraft,
  grant: Grant,
  { outcome, tokens, agoMs, retryAfterMs }: Ending,
  now: number,
  jitter: number,
): void => {
  const { settings } = draft;
  const { model } = grant;
  if (outcome === 'unused' && grant.sentAt === null) {
    draft.changePools(model, (pool) => withUnused(pool, grant.tokens, settings));
    correct(draft, grant, null);
    draft.end(grant);
    return;
  }
  settle(draft, grant, tokens ?? grant.tokens, now - Math.max(0, agoMs), now);
  if (outcome === 'throttled') pause(draft, model, retryAfterMs, now, jitter);
  if (outcome === 'throttled' || outcome === 'unused') return;
  const event = outcome === 'answered' ? 'ANSWERED' : 'FAILED';
  draft.breaker = breakerHeard(draft.breaker, event, grant.breakerEpoch, settings.breaker, now);
  if (outcome === 'failed') return;
  draft.pools = draft.pools.map((pool) => (pool.model === model ? { ...pool, throttles: 0 } : pool));
};

/** Nobody answers for these grants any more. Each may have been sent at the last moment, so that it counts whole, from now. */
export const endLost = (draft: GovernorDraft, now: number, isLost: (grant: Grant) => boolean): Grant[] => {
  const lost = [...draft.grants.values()].filter(isLost);
  for (const grant of lost) settle(draft, grant, grant.tokens, now, now);
  return lost;
};
