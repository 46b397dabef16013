import type { Breaker } from './breaker.js';
import type { Pool } from './pool.js';
import { type GovernorSettings, type GovernorState, type Grant, isOf, type QueuedCall } from './state.js';

const byId = <T extends { id: string }>(list: readonly T[]): Map<string, T> =>
  new Map(list.map((each) => [each.id, each]));

/** A governor's state while it steps: what thousands of calls look up is found by id. What it was made of stays as it was. */
export class GovernorDraft {
  settings: GovernorSettings;
  pools: readonly Pool[];
  fairLine: number;
  breaker: Breaker;
  /** In order of arrival. */
  readonly queue: Map<string, QueuedCall>;
  readonly grants: Map<string, Grant>;
  /** What each tenant has had. */
  readonly had: Map<string, number>;
  /** How many calls of a tenant wait, and how many are under way. */
  private readonly waiting = new Map<string, number>();
  private readonly underWay = new Map<string, number>();

  constructor({ settings, pools, fairLine, breaker, queue, grants, shares }: GovernorState) {
    this.settings = settings;
    this.pools = pools;
    this.fairLine = fairLine;
    this.breaker = breaker;
    this.queue = byId(queue);
    this.grants = byId(grants);
    this.had = new Map(shares.map(({ tenant, had }) => [tenant, had]));
    for (const { tenant } of queue) this.count(this.waiting, tenant, 1);
    for (const { tenant } of grants) this.count(this.underWay, tenant, 1);
  }

  /** Tenants that have calls waiting. */
  waitingTenants(): IterableIterator<string> {
    return this.waiting.keys();
  }

  isWaiting(tenant: string): boolean {
    return this.waiting.has(tenant);
  }

  changePools(model: string, change: (pool: Pool) => Pool): void {
    this.pools = this.pools.map((pool) => (isOf(pool, model) ? change(pool) : pool));
  }

  enqueue(call: QueuedCall): void {
    this.queue.set(call.id, call);
    this.count(this.waiting, call.tenant, 1);
  }

  dequeue(id: string): void {
    const call = this.queue.get(id);
    if (!call) return;
    this.queue.delete(id);
    this.count(this.waiting, call.tenant, -1);
  }

  grant(grant: Grant): void {
    this.dequeue(grant.id);
    this.grants.set(grant.id, grant);
    this.count(this.underWay, grant.tenant, 1);
  }

  end({ id, tenant }: Grant): void {
    if (this.grants.delete(id)) this.count(this.underWay, tenant, -1);
  }

  state(): GovernorState {
    const { settings, pools, fairLine, breaker } = this;
    const isIdle = this.queue.size === 0 && this.grants.size === 0;
    // A newcomer would stand no worse than a tenant that has nothing to do and is not ahead.
    const shares = [...this.had]
      .filter(([tenant, had]) => this.waiting.has(tenant) || this.underWay.has(tenant) || had > fairLine)
      .map(([tenant, had]) => ({ tenant, had }));
    return {
      settings,
      queue: [...this.queue.values()],
      grants: [...this.grants.values()],
      pools: [...pools],
      shares: isIdle ? [] : shares,
      fairLine: isIdle ? 0 : fairLine,
      breaker,
    };
  }

  private count(of: Map<string, number>, tenant: string, by: number): void {
    const next = (of.get(tenant) ?? 0) + by;
    if (next > 0) of.set(tenant, next);
    else of.delete(tenant);
  }
}
