import { corrected, fitsAt, type Uses, usedIn, withUse } from './sliding-window.js';

/** null is no limit. `requests` and `tokens` are for any window, `concurrency` is calls under way at a time. */
export interface PoolLimits {
  requests: number | null;
  tokens: number | null;
  concurrency: number | null;
}

/** What calls of one provider, or of one of its models, share. Plain JSON. */
export interface Pool {
  /** null: the provider's. */
  model: string | null;
  limits: PoolLimits;
  requests: Uses;
  tokens: Uses;
  /** Calls under way. */
  open: number;
  /** Granted, and not known to be sent: they count as used, however long ago they were granted. */
  unsent: { requests: number; tokens: number };
  /** When all that has been granted would have been used at an even pace, epoch milliseconds. */
  paced: { requests: number; tokens: number };
  /** The provider asked for this; epoch milliseconds, 0: it did not. */
  pausedUntil: number;
  /** Refusals by the provider since the last answer. */
  throttles: number;
}

export interface Rhythm {
  windowMs: number;
  /** Share of a window's limit that may go out at once, above 0 to 1: the smaller, the sooner a newcomer's turn comes. */
  burst: number;
}

export const newPool = (model: string | null, limits: PoolLimits): Pool => ({
  model,
  limits,
  requests: [],
  tokens: [],
  open: 0,
  unsent: { requests: 0, tokens: 0 },
  paced: { requests: 0, tokens: 0 },
  pausedUntil: 0,
  throttles: 0,
});

const kinds = ['requests', 'tokens'] as const;

/** How long `amount` lasts at an even pace. */
const lasts = (amount: number, limit: number, { windowMs }: Rhythm): number => (amount * windowMs) / limit;

/** When a call that may use `tokens` can go out as far as this pool is concerned; Infinity: once another has ended. */
export const readyAt = (pool: Pool, tokens: number, now: number, rhythm: Rhythm): number => {
  const { limits, unsent, paced } = pool;
  if (limits.concurrency !== null && pool.open >= limits.concurrency) return Infinity;
  const needs = { requests: 1, tokens };
  return kinds.reduce(
    (at, kind) => {
      const limit = limits[kind];
      if (limit === null || needs[kind] === 0) return at;
      const free = fitsAt(pool[kind], needs[kind] + unsent[kind], limit, now, rhythm.windowMs);
      const ahead = Math.max(0, rhythm.burst * rhythm.windowMs - lasts(needs[kind], limit, rhythm));
      return Math.max(at, free, Math.ceil(paced[kind] - ahead));
    },
    Math.max(now, pool.pausedUntil),
  );
};

const change = (pool: Pool, by: (kind: (typeof kinds)[number]) => number): Pool['paced'] => ({
  requests: by('requests'),
  tokens: by('tokens'),
});

/** Moves the pace by what was granted (or, below 0, given back). */
const pace = (pool: Pool, uses: Pool['unsent'], from: number, rhythm: Rhythm): Pool['paced'] =>
  change(pool, (kind) => {
    const limit = pool.limits[kind];
    if (limit === null || limit === 0 || uses[kind] === 0) return pool.paced[kind];
    return Math.max(pool.paced[kind], from) + lasts(uses[kind], limit, rhythm);
  });

export const withGrant = (pool: Pool, tokens: number, now: number, rhythm: Rhythm): Pool => ({
  ...pool,
  open: pool.open + 1,
  unsent: { requests: pool.unsent.requests + 1, tokens: pool.unsent.tokens + tokens },
  paced: pace(pool, { requests: 1, tokens }, now, rhythm),
});

const withoutUnsent = ({ unsent }: Pool, tokens: number): Pool['unsent'] => ({
  requests: unsent.requests - 1,
  tokens: unsent.tokens - tokens,
});

/** A granted call was sent at `at`: from then on it counts for one window. */
export const withSent = (pool: Pool, tokens: number, at: number, now: number, { windowMs }: Rhythm): Pool => ({
  ...pool,
  unsent: withoutUnsent(pool, tokens),
  requests: withUse(pool.requests, { at, amount: 1 }, now, windowMs),
  tokens: withUse(pool.tokens, { at, amount: tokens }, now, windowMs),
});

/** A call that was sent at `at` has ended, and used `used` where `tokens` were granted. */
export const withEnded = (pool: Pool, tokens: number, used: number, at: number, rhythm: Rhythm): Pool => ({
  ...pool,
  open: pool.open - 1,
  tokens: corrected(pool.tokens, at, used - tokens, rhythm.windowMs),
  paced: pace(pool, { requests: 0, tokens: used - tokens }, 0, rhythm),
});

/** A granted call was never sent. */
export const withUnused = (pool: Pool, tokens: number, rhythm: Rhythm): Pool => ({
  ...pool,
  open: pool.open - 1,
  unsent: withoutUnsent(pool, tokens),
  paced: pace(pool, { requests: -1, tokens: -tokens }, 0, rhythm),
});

/** What counts against the limits at `now`, with what is granted and not yet sent. */
export const usage = (pool: Pool, now: number, windowMs: number): { requests: number; tokens: number } =>
  change(pool, (kind) => usedIn(pool[kind], now, windowMs) + pool.unsent[kind]);
