import { tierRank } from '../tier.js';
import { isOf, type GovernorSettings, type GovernorState, type QueuedCall, type TenantShare } from './state.js';

/**
 * How far a tenant may get ahead of the others, as a share of a window, so that its gold goes before their bronze: within
 * it the tier decides between tenants, beyond it their shares do. So a tier is worth something everywhere, and takes nothing
 * from anybody for good.
 */
const tierLead = 0.1;

/** 0 gold, 1 silver, 2 bronze; every `agingMs` of waiting counts as one tier, so that no tier starves. */
const rankOf = ({ tier, since }: QueuedCall, now: number, agingMs: number): number =>
  Math.max(0, tierRank[tier] - Math.floor((now - since) / agingMs));

const weightOf = ({ weights }: GovernorSettings, tenant: string): number =>
  weights.find((each) => each.tenant === tenant)?.weight ?? 1;

/** What a call takes: its largest share of any limit that it draws on. */
const costOf = ({ pools, settings }: GovernorState, model: string, tokens: number): number => {
  const shares = pools
    .filter((pool) => isOf(pool, model))
    .flatMap(({ limits }) => [
      limits.requests === null ? 0 : 1 / limits.requests,
      limits.tokens === null ? 0 : tokens / limits.tokens,
    ]);
  const largest = Math.max(0, ...shares);
  // Without a limit to share tenants share the number of calls.
  return largest > 0 ? largest : 1 / (settings.limits.concurrency ?? 100);
};

const hadBy = ({ shares, fairLine }: GovernorState, tenant: string): number =>
  shares.find((share) => share.tenant === tenant)?.had ?? fairLine;

const withHad = (shares: readonly TenantShare[], tenant: string, had: number): TenantShare[] => [
  ...shares.filter((share) => share.tenant !== tenant),
  { tenant, had },
];

/** A tenant that asks for nothing at present begins where the one furthest behind is: what it left unused is not saved up. */
export const withArrival = (governor: GovernorState, tenant: string): GovernorState => {
  if (governor.queue.some((call) => call.tenant === tenant)) return governor;
  const had = Math.max(hadBy(governor, tenant), governor.fairLine);
  return { ...governor, shares: withHad(governor.shares, tenant, had) };
};

/** Books a call to its tenant. */
export const withServed = (governor: GovernorState, { tenant, model, tokens }: QueuedCall): GovernorState => {
  const had = hadBy(governor, tenant) + costOf(governor, model, tokens) / weightOf(governor.settings, tenant);
  const fairLine = governor.queue.reduce((least, call) => Math.min(least, hadBy(governor, call.tenant)), Infinity);
  return {
    ...governor,
    shares: withHad(governor.shares, tenant, had),
    fairLine: Math.max(governor.fairLine, Number.isFinite(fairLine) ? fairLine : 0),
  };
};

/** Gives a tenant back what a call did not use, or books what it used beyond its grant; null: it was not made. */
export const withUsed = (
  governor: GovernorState,
  { tenant, model, tokens }: QueuedCall,
  used: number | null,
): GovernorState => {
  const cost = used === null ? 0 : costOf(governor, model, used);
  const difference = (cost - costOf(governor, model, tokens)) / weightOf(governor.settings, tenant);
  return { ...governor, shares: withHad(governor.shares, tenant, hadBy(governor, tenant) + difference) };
};

/** Forgets tenants that a newcomer would stand no worse than. */
export const withoutIdle = (governor: GovernorState): GovernorState => {
  const isActive = (tenant: string): boolean =>
    governor.queue.some((call) => call.tenant === tenant) || governor.grants.some((grant) => grant.tenant === tenant);
  const shares = governor.shares.filter(({ tenant, had }) => isActive(tenant) || had > governor.fairLine);
  const isIdle = governor.queue.length === 0 && governor.grants.length === 0;
  return isIdle ? { ...governor, shares: [], fairLine: 0 } : { ...governor, shares };
};

/** Whose turn it is, of the calls that `mayGo`; null: none. */
export const nextCall = (
  governor: GovernorState,
  now: number,
  mayGo: (call: QueuedCall) => boolean,
): QueuedCall | null => {
  const { queue, settings } = governor;
  const firsts = new Map<string, { call: QueuedCall; rank: number }>();
  for (const call of queue) {
    if (!mayGo(call)) continue;
    const first = firsts.get(call.tenant);
    const rank = rankOf(call, now, settings.agingMs);
    if (!first || rank < first.rank) firsts.set(call.tenant, { call, rank });
  }
  const tenants = [...firsts.values()].map((first) => ({ ...first, had: hadBy(governor, first.call.tenant) }));
  const least = Math.min(...tenants.map(({ had }) => had));
  const turn = tenants
    .filter(({ had }) => had <= least + tierLead)
    // Without ageing: a tenant does not come before others by having much that waits.
    .sort((a, b) => tierRank[a.call.tier] - tierRank[b.call.tier] || a.had - b.had || a.call.since - b.call.since)[0];
  return turn?.call ?? null;
};
