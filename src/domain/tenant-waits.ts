import type { Waiting } from '../contracts/work.js';
import { iso } from './instant.js';

/** Type of the failure of a call that was not made, as a person is asked for the budget of its tenant first. */
export const personAskedType = 'person_asked';

/** A call of work that is not made until a person has answered for the budget of its tenant. */
export interface TenantWait {
  /** Names it among the calls of the work. */
  call: string;
  tenant: string;
  /** Epoch milliseconds. */
  since: number;
}

/** A call begins to wait; `tenant` null: it waits no longer. */
export interface TenantWaitEvent {
  type: 'PERSON_AWAITED';
  call: string;
  tenant: string | null;
}

export interface HasTenantWaits {
  /** Left out: no call waits so. */
  tenantWaits?: TenantWait[];
}

/** Takes note of who waits, in a step's own copy of the work. */
export const takeTenantWait = (work: HasTenantWaits, { call, tenant }: TenantWaitEvent, now: number): void => {
  const others = (work.tenantWaits ?? []).filter((wait) => wait.call !== call);
  const waits = tenant === null ? others : [...others, { call, tenant, since: now }];
  if (waits.length > 0) work.tenantWaits = waits;
  else delete work.tenantWaits;
};

/** Where what was under way begins anew: nobody waits any more of those that did, or were about to say so. */
export const awaitingNobody = <Work extends HasTenantWaits, Event extends { type: string }>(
  { tenantWaits, ...work }: Work,
  inbox: readonly Event[],
): { work: Work; inbox: Event[]; hasWaited: boolean } => ({
  work: work as Work,
  inbox: inbox.filter(({ type }) => type !== ('PERSON_AWAITED' satisfies TenantWaitEvent['type'])),
  hasWaited: tenantWaits !== undefined,
});

export const tenantWaitOf = ({ tenantWaits = [] }: HasTenantWaits, call: string): TenantWait | null =>
  tenantWaits.find((wait) => wait.call === call) ?? null;

/** Why calls are not made, in words (spec 08 "Why is it not moving?"). @param waits at least one */
export const describeTenantWaits = (waits: readonly TenantWait[]): Waiting => {
  const tenants = [...new Set(waits.map(({ tenant }) => tenant))];
  const named = tenants.join(', ');
  const calls = waits.length === 1 ? '1 call waits' : `${waits.length} calls wait`;
  return {
    for: 'person',
    since: iso(Math.min(...waits.map(({ since }) => since))),
    detail: `${calls} for an answer whether tenant ${named} may use more`,
    who_can_unblock: `whoever answers for its budget: parley budget ${tenants[0] ?? ''} --max-usd, --max-tokens or --stop, or POST /v1/budgets/${tenants[0] ?? ''}; or a cancel`,
  };
};
