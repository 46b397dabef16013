import type { GovernorDraft } from './draft.js';
import { endGrant, type Ending, endLost, noteSent, poolWith } from './ending.js';
import { arrive } from './fairness.js';
import { newPool, type Pool } from './pool.js';
import { type Demand, type Grant, type GovernorSettings, isOf, unlimited } from './state.js';

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
  /** Grants of the worker stand for as long again: those it names, else all. What it does not know of it cannot end. */
  | { type: 'alive'; worker: string; ids?: string[] }
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
  refusal?: Refusal;
  /** The id of a call that asks for the grant that it has. */
  again?: string;
  expired?: Grant[];
}

/** Why a call can never be granted, or not be taken in; null: it is. */
const refusalOf = ({ pools, queue, settings }: GovernorDraft, { id, model, tokens }: Demand): Refusal | null => {
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
  if (queue.size < settings.maxQueued) return null;
  return refuse(`${queue.size} calls wait for ${settings.provider} already; try again later`, true);
};

const wanted = (draft: GovernorDraft, demand: Demand, now: number): Heard => {
  if (draft.grants.has(demand.id)) return { again: demand.id };
  if (draft.queue.has(demand.id)) return {};
  const refusal = refusalOf(draft, demand);
  if (refusal) return { refusal };
  arrive(draft, demand.tenant);
  draft.enqueue({ ...demand, since: now });
  return {};
};

const change = (draft: GovernorDraft, settings: GovernorSettings): void => {
  const limitsOf = (model: string | null): Pool['limits'] =>
    model === null ? settings.limits : (settings.models.find((each) => each.model === model)?.limits ?? unlimited);
  const known = new Set(draft.pools.map(({ model }) => model));
  const added = settings.models.filter(({ model }) => !known.has(model));
  draft.settings = settings;
  draft.pools = [
    // The pace was that of other limits; the window itself knows what was used.
    ...draft.pools.map((pool) => ({ ...pool, limits: limitsOf(pool.model), paced: { requests: 0, tokens: 0 } })),
    ...added.map(({ model, limits }) => poolWith(draft, newPool(model, limits))),
  ];
};

/** Takes in what a worker says; what is said of a call that is over changes nothing. `jitter` is 0 to 1. */
export const hear = (draft: GovernorDraft, event: GovernorEvent, now: number, jitter: number): Heard => {
  switch (event.type) {
    case 'wanted':
      return wanted(draft, event.demand, now);
    case 'withdrawn':
      draft.dequeue(event.id);
      return {};
    case 'sent': {
      const grant = draft.grants.get(event.id);
      if (grant) noteSent(draft, grant, now - Math.max(0, event.agoMs), now);
      return {};
    }
    case 'ended': {
      const grant = draft.grants.get(event.id);
      if (grant) endGrant(draft, grant, event, now, jitter);
      return {};
    }
    case 'alive': {
      const expiresAt = now + draft.settings.leaseMs;
      const named = event.ids && new Set(event.ids);
      for (const grant of draft.grants.values()) {
        if (grant.worker !== event.worker || named?.has(grant.id) === false) continue;
        draft.grants.set(grant.id, { ...grant, expiresAt });
      }
      return {};
    }
    case 'dead':
      for (const { id, worker } of draft.queue.values()) if (worker === event.worker) draft.dequeue(id);
      return { expired: endLost(draft, now, ({ worker }) => worker === event.worker) };
    case 'settings':
      change(draft, event.settings);
      return {};
  }
};
