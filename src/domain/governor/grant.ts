import { breakerStep } from './breaker.js';
import type { GovernorDraft } from './draft.js';
import { nextCall, serve, turnsOf } from './fairness.js';
import { type Pool, readyAt, withGrant } from './pool.js';
import { type Grant, isOf, type QueuedCall } from './state.js';

const grantCall = (draft: GovernorDraft, call: QueuedCall, now: number): Grant => {
  const { settings, breaker } = draft;
  const expiresAt = now + settings.leaseMs;
  const grant: Grant = { ...call, grantedAt: now, expiresAt, sentAt: null, breakerEpoch: breaker.epoch };
  serve(draft, call);
  draft.grant(grant);
  draft.changePools(call.model, (pool) => withGrant(pool, call.tokens, now, settings));
  return grant;
};

/** A breaker whose time is over lets one call try the provider. */
const isTrying = ({ breaker, grants }: GovernorDraft): boolean =>
  breaker.state === 'HALF_OPEN' && [...grants.values()].some(({ breakerEpoch }) => breakerEpoch === breaker.epoch);

/**
 * Grants what may go out now, in turn. A call that has to wait keeps its place: no later one overtakes it in a pool that it waits
 * for, so that a large one is not starved by small ones; calls of other models go on.
 * @returns what is granted, and when the first call that waits for time alone can go out; Infinity: none does
 */
export const grantCalls = (draft: GovernorDraft, now: number): { granted: Grant[]; readyAt: number } => {
  const { settings } = draft;
  const granted: Grant[] = [];
  if (draft.breaker.state === 'OPEN') {
    const { coolUntil } = draft.breaker;
    if (now < coolUntil) return { granted, readyAt: draft.queue.size > 0 ? coolUntil : Infinity };
    draft.breaker = breakerStep(draft.breaker, 'COOLED', settings.breaker, now);
  }
  const taken = new Set<Pool['model']>();
  const turns = turnsOf(draft, now);
  let soonest = Infinity;
  while (!isTrying(draft) && !taken.has(null)) {
    const call = nextCall(draft, turns, ({ model }) => !taken.has(model));
    if (!call) break;
    const waits = draft.pools
      .filter((pool) => isOf(pool, call.model))
      .map((pool) => ({ model: pool.model, at: readyAt(pool, call.tokens, now, settings) }));
    const at = Math.max(...waits.map((wait) => wait.at));
    if (at <= now) {
      granted.push(grantCall(draft, call, now));
      continue;
    }
    soonest = Math.min(soonest, at);
    for (const wait of waits) if (wait.at > now) taken.add(wait.model);
  }
  return { granted, readyAt: soonest };
};
