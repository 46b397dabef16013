import type { Tier } from '../contracts/session.js';

/** gold before silver before bronze: admission and every tie (spec 01). Smaller is higher. */
export const tierRank: Readonly<Record<Tier, number>> = { gold: 0, silver: 1, bronze: 2 };

interface Tiered {
  tier: Tier;
}

/** Gold, silver, bronze; within a tier as given, so a list in order of arrival is served FIFO (details 1.6). */
export const admissionOrder = <T extends Tiered>(lanes: readonly T[]): T[] =>
  lanes.toSorted((a, b) => tierRank[a.tier] - tierRank[b.tier]);

/** Whom to take the place of first: bronze oldest first, then silver oldest first, never gold (details 1.6). */
export const preemptionOrder = <T extends Tiered & { startedAt: number }>(lanes: readonly T[]): T[] =>
  lanes
    .filter((lane) => lane.tier !== 'gold')
    .sort((a, b) => tierRank[b.tier] - tierRank[a.tier] || a.startedAt - b.startedAt);
