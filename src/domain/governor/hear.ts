import { type Ending, poolWith, withEnding, withoutLost, withSentGrant } from './ending.js';
import { withArrival } from './fairness.js';
import { newPool, type Pool } from './pool.js';
import { type Demand, type Grant, type GovernorSettings, type GovernorState, isOf, unlimited } from './state.js';

/**
 * What workers say. When a call was sent is told as milliseconds ago, by the worker's own clock: what a message takes on its
 * way then makes the call later than it was, and never lets too many go out.
 */
export type GovernorEvent =
  /** A call wants to be made. The same once more brings its grant once more, and nothing else. */
  | { type: 'wanted'; demand: Demand }
  /** Nobody waits for the call any more; one that is granted has to be ended instead. */
  | { type: 'withdrawn'; id: string }
  /** Told early, a long call counts for one window and no longer. */
  | { type: 'sent'; id: string; agoMs: number }
  | ({ type: 'ended'; id: string } & Ending)
  /** All grants of the worker stand for as long again. */
  | { type: 'alive'; worker: string }
  | { type: 'dead'; worker: string }
  | { type: 'settings'; settings: GovernorSettings };

export interface Refusal {
  id: string;
  code: 'EWINDOW';
  message: string;
  /** Whether it may be asked again as it is. */
  retryable: boolean;
}

export interface Heard {
  governor: GovernorState;
  refusal?: Refusal;
  again?: Grant;
  expired?: Grant[];
}

/** Why a call can never be granted, or not be taken in; null: it is. */
const refusalOf = ({ pools, queue, settings }: GovernorState, { id, model, tokens }: Demand): Refusal | null => {
  const refuse = (message: string, retryable: boolean): Refusal => ({ id, code: 'EWINDOW', message, retryable });
  if (!Number.isSafeInteger(tokens) || tokens < 0) {
    return refuse(`the tokens of a call are a whole number, 0 or more; got ${tokens}`, false);
  }
  const needs = { requests: 1, tokens, concurrency: 1 };
  for (const { model: of, limits } of pools.filter((pool) => isOf(pool, model))) {
    const name = of === null ? settings.provider : `${settings.provider}/${of}`;
    for (const kind of ['requests', 'tokens', 'concurrency'] as const) {
      const limit = limits[kind];
      if (limit === null || needs[kind] <= limit) continue;
      const advice = kind === 'tokens' ? 'ask for a shorter answer, or with a shorter prompt' : 'ask another';
      return refuse(`${name} is limited to ${limit} ${kind}, and the call needs ${needs[kind]}; ${advice}`, false);
    }
  }
  if (queue.length < settings.maxQueued) return null;
  return refuse(`${queue.length} calls wait for ${settings.provider} already; try again later`, true);
};

const wanted = (governor: GovernorState, demand: Demand, now: number): Heard => {
  const again = governor.grants.find(({ id }) => id === demand.id);
  if (again) return { governor, again };
  if (governor.queue.some(({ id }) => id === demand.id)) return { governor };
  const refusal = refusalOf(governor, demand);
  if (refusal) return { governor, refusal };
  const arrived = withArrival(governor, demand.tenant);
  return { governor: { ...arrived, queue: [...arrived.queue, { ...demand, since: now }] } };
};

const withSettings = (governor: GovernorState, settings: GovernorSettings): GovernorState => {
  const limitsOf = (model: string | null): Pool['limits'] =>
    model === null ? settings.limits : (settings.models.find((each) => each.model === model)?.limits ?? unlimited);
  const known = new Set(governor.pools.map(({ model }) => model));
  const added = settings.models.filter(({ model }) => !known.has(model));
  const next = { ...governor, settings };
  const pools = [
    // The pace was that of other limits; the window itself knows what was used.
    ...governor.pools.map((pool) => ({ ...pool, limits: limitsOf(pool.model), paced: { requests: 0, tokens: 0 } })),
    ...added.map(({ model, limits }) => poolWith(next, newPool(model, limits))),
  ];
  return { ...next, pools };
};

/** Takes in what a worker says; what is said of a call that is over changes nothing. `jitter` is 0 to 1. */
export const hear = (governor: GovernorState, event: GovernorEvent, now: number, jitter: number): Heard => {
  const grantOf = (id: string): Grant | undefined => governor.grants.find((grant) => grant.id === id);
  switch (event.type) {
    case 'wanted':
      return wanted(governor, event.demand, now);
    case 'withdrawn':
      return { governor: { ...governor, queue: governor.queue.filter(({ id }) => id !== event.id) } };
    case 'sent': {
      const grant = grantOf(event.id);
      return { governor: grant ? withSentGrant(governor, grant, now - Math.max(0, event.agoMs), now) : governor };
    }
    case 'ended': {
      const grant = grantOf(event.id);
      return { governor: grant ? withEnding(governor, grant, event, now, jitter) : governor };
    }
    case 'alive': {
      const expiresAt = now + governor.settings.leaseMs;
      const grants = governor.grants.map((each) => (each.worker === event.worker ? { ...each, expiresAt } : each));
      return { governor: { ...governor, grants } };
    }
    case 'dead': {
      const queue = governor.queue.filter(({ worker }) => worker !== event.worker);
      return withoutLost({ ...governor, queue }, now, ({ worker }) => worker === event.worker);
    }
    case 'settings':
      return { governor: withSettings(governor, event.settings) };
  }
};
