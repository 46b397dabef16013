import { tierRank } from '../tier.js';
import type { GovernorDraft } from './draft.js';
import { type GovernorSettings, isOf, type QueuedCall } from './state.js';

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
const costOf = ({ pools, settings }: GovernorDraft, model: string, tokens: number): number => {
  let largest = 0;
  for (const pool of pools) {
    if (!isOf(pool, model)) continue;
    const { limits } = pool;
    if (limits.requests !== null) largest = Math.max(largest, 1 / limits.requests);
    if (limits.tokens !== null) largest = Math.max(largest, tokens / limits.tokens);
  }
  // Without a limit to share tenants share the number of calls.
  return largest > 0 ? largest : 1 / (settings.limits.concurrency ?? 100);
};

const hadBy = ({ had, fairLine }: GovernorDraft, tenant: string): number => had.get(tenant) ?? fairLine;

/** A tenant that asks for nothing at present begins where the one furthest behind is: what it left unused is not saved up. */
export const arrive = (draft: GovernorDraft, tenant: string): void => {
  if (!draft.isWaiting(tenant)) draft.had.set(tenant, Math.max(hadBy(draft, tenant), draft.fairLine));
};

/** Books a call to its tenant, while it still waits: it is one of those that the fair line is drawn by. */
export const serve = (draft: GovernorDraft, { tenant, model, tokens }: QueuedCall): void => {
  let least = Infinity;
  for (const waiting of draft.waitingTenants()) least = Math.min(least, hadBy(draft, waiting));
  const had = hadBy(draft, tenant) + costOf(draft, model, tokens) / weightOf(draft.settings, tenant);
  draft.had.set(tenant, had);
  if (Number.isFinite(least)) draft.fairLine = Math.max(draft.fairLine, least);
};

/** Gives a tenant back what a call did not use, or books what it used beyond its grant; null: it was not made. */
export const correct = (draft: GovernorDraft, { tenant, model, tokens }: QueuedCall, used: number | null): void => {
  const cost = used === null ? 0 : costOf(draft, model, used);
  const difference = (cost - costOf(draft, model, tokens)) / weightOf(draft.settings, tenant);
  draft.had.set(tenant, hadBy(draft, tenant) + difference);
};

/** The calls of each tenant that wait, whose turn comes last first. */
export type Turns = Map<string, QueuedCall[]>;

export const turnsOf = ({ queue, settings }: GovernorDraft, now: number): Turns => {
  const ranks = new Map<string, QueuedCall[][]>();
  for (const call of queue.values()) {
    const ofTenant = ranks.get(call.tenant) ?? [[], [], []];
    ofTenant[rankOf(call, now, settings.agingMs)]?.push(call);
    ranks.set(call.tenant, ofTenant);
  }
  return new Map([...ranks].map(([tenant, ofTenant]) => [tenant, ofTenant.flat().reverse()]));
};

/** Takes out whose turn it is, of the calls that `mayGo`; null: none. Those that may not are out of turn until the next step. */
export const nextCall = (
  draft: GovernorDraft,
  turns: Turns,
  mayGo: (call: QueuedCall) => boolean,
): QueuedCall | null => {
  const firsts: { call: QueuedCall; had: number }[] = [];
  for (const [tenant, calls] of turns) {
    let first = calls.at(-1);
    while (first && !mayGo(first)) {
      calls.pop();
      first = calls.at(-1);
    }
    if (first) firsts.push({ call: first, had: hadBy(draft, tenant) });
    else turns.delete(tenant);
  }
  const least = firsts.reduce((lowest, { had }) => Math.min(lowest, had), Infinity);
  // Without ageing: a tenant does not come before others by having much that waits.
  const before = (a: (typeof firsts)[number], b: (typeof firsts)[number]): number =>
    tierRank[a.call.tier] - tierRank[b.call.tier] || a.had - b.had || a.call.since - b.call.since;
  const turn = firsts
    .filter(({ had }) => had <= least + tierLead)
    .reduce<
      (typeof firsts)[number] | null
    >((best, each) => (best === null || before(each, best) < 0 ? each : best), null);
  if (turn) turns.get(turn.call.tenant)?.pop();
  return turn?.call ?? null;
};
