import { GovernorDraft } from './draft.js';
import { endLost } from './ending.js';
import { grantCalls } from './grant.js';
import { type GovernorEvent, hear, type Refusal } from './hear.js';
import type { Pool } from './pool.js';
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

/** A model that has no limits of its own and is not paused, or was not lately, needs no pool. */
const withoutIdlePools = ({ pools, settings }: GovernorDraft, now: number): Pool[] =>
  pools.filter(
    ({ model, pausedUntil, throttles }) =>
      model === null ||
      settings.models.some((each) => each.model === model) ||
      pausedUntil + (throttles > 0 ? settings.longestBackoffMs : 0) > now,
  );

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
  const draft = new GovernorDraft(before);
  const heard = events.map((event) => hear(draft, event, now, jitter));
  const expired = [
    ...heard.flatMap((each) => each.expired ?? []),
    ...endLost(draft, now, ({ expiresAt }) => expiresAt <= now),
  ];
  draft.pools = withoutIdlePools(draft, now);
  const { granted, readyAt } = grantCalls(draft, now);
  const again = heard.flatMap((each) => draft.grants.get(each.again ?? '') ?? []);
  let nextAt = readyAt;
  for (const { expiresAt } of draft.grants.values()) nextAt = Math.min(nextAt, expiresAt);
  return {
    governor: draft.state(),
    granted: [...again, ...granted],
    refused: heard.flatMap(({ refusal }) => refusal ?? []),
    expired,
    nextAt: Number.isFinite(nextAt) ? nextAt : null,
  };
};
