import type { Tier } from '../../contracts/session.js';
import { type Breaker, type BreakerRules, closedBreaker } from './breaker.js';
import { newPool, type Pool, type PoolLimits, type Rhythm } from './pool.js';

export interface GovernorSettings extends Rhythm {
  provider: string;
  limits: PoolLimits;
  /** Beside the provider's own limits, those of some of its models. */
  models: { model: string; limits: PoolLimits }[];
  /** Share of each tenant relative to others, above 0; 1 where it is not named. */
  weights: { tenant: string; weight: number }[];
  /** A grant that nothing is heard of for so long is over. */
  leaseMs: number;
  /** A call that has waited so long counts as of the next higher tier, after twice as long as of the one above. */
  agingMs: number;
  breaker: BreakerRules;
  /** First pause after a refusal by the provider that does not say how long; twice as long each further time. */
  backoffMs: number;
  longestBackoffMs: number;
  /** Calls that may wait at a time. */
  maxQueued: number;
}

/** A call that wants to be made. */
export interface Demand {
  /** Its grant has the same. */
  id: string;
  tenant: string;
  tier: Tier;
  model: string;
  /** The most that it may use: prompt and longest answer. What it really used is counted once it has ended. */
  tokens: number;
  /** Who makes it, and answers for it. */
  worker: string;
}

export interface QueuedCall extends Demand {
  /** Epoch milliseconds. */
  since: number;
}

/** A call that may be made now. It must be sent before it expires, or not at all. */
export interface Grant extends QueuedCall {
  grantedAt: number;
  expiresAt: number;
  /** null: not known to be sent. */
  sentAt: number | null;
  breakerEpoch: number;
}

/** What a tenant has had, in windows of the provider's limit divided by its weight. */
export interface TenantShare {
  tenant: string;
  had: number;
}

/** The whole governor as plain JSON: a workflow owns it, and continue-as-new carries it. */
export interface GovernorState {
  settings: GovernorSettings;
  /** In order of arrival. */
  queue: QueuedCall[];
  grants: Grant[];
  /** The provider's first, then those of models that have limits of their own or were told to pause. */
  pools: Pool[];
  shares: TenantShare[];
  /** What the tenant that is furthest behind has had: where newcomers begin. */
  fairLine: number;
  breaker: Breaker;
}

export const newGovernor = (settings: GovernorSettings): GovernorState => ({
  settings,
  queue: [],
  grants: [],
  pools: [newPool(null, settings.limits), ...settings.models.map(({ model, limits }) => newPool(model, limits))],
  shares: [],
  fairLine: 0,
  breaker: closedBreaker,
});

export const unlimited: PoolLimits = { requests: null, tokens: null, concurrency: null };

/** The pools that a call of a model draws on. */
export const isOf = (pool: Pool, model: string): boolean => pool.model === null || pool.model === model;
