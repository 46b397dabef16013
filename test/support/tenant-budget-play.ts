import { addsUp } from '../../src/domain/ledger/settle.js';
import type { BudgetEvent, BudgetGrant, BudgetRefusal } from '../../src/domain/tenant-budget/messages.js';
import type { TenantBudgetSettings } from '../../src/domain/tenant-budget/settings.js';
import { type BudgetDemand, newTenantBudget, type TenantBudgetState } from '../../src/domain/tenant-budget/state.js';
import { stepTenantBudget } from '../../src/domain/tenant-budget/step.js';
import { tenantBudgetView } from '../../src/domain/tenant-budget/view.js';
import { amount } from './ledger-play.js';

export const budgetSettings = (of: Partial<TenantBudgetSettings> = {}): TenantBudgetSettings => ({
  tenant: 'acme',
  limits: { maxTokens: 100, maxUsdMicros: null },
  period: 'day',
  warnPercent: 80,
  cheaperPercent: null,
  asks: false,
  ...of,
});

/** A tenant's budget and its clock; each call is one step, and the state is JSON after each, as continue-as-new has it. */
export class BudgetPlay {
  state: TenantBudgetState;
  readonly granted: BudgetGrant[] = [];
  readonly refused: BudgetRefusal[] = [];
  nextAt: number | null = null;

  constructor(
    settings: TenantBudgetSettings = budgetSettings(),
    public now = Date.UTC(2026, 10, 22, 12),
  ) {
    this.state = newTenantBudget(settings, now);
  }

  hear(...events: BudgetEvent[]): this {
    const { state, granted, refused, nextAt } = stepTenantBudget(this.state, events, this.now);
    this.state = JSON.parse(JSON.stringify(state)) as TenantBudgetState;
    this.granted.push(...granted);
    this.refused.push(...refused);
    this.nextAt = nextAt;
    const { books, earlier } = this.state;
    if (![books, ...earlier].every(({ ledger }) => addsUp(ledger))) throw new Error('the books do not add up');
    return this;
  }

  want(worker: string, number: number, tokens: number, rest: Partial<BudgetDemand> = {}): this {
    const demand = { worker, number, amount: amount(tokens), isCapped: true, cheaper: null, ...rest };
    return this.hear({ type: 'wanted', demand });
  }

  end(worker: string, number: number, tokens: number, since: number | null = this.since(worker, number)): this {
    return this.hear({ type: 'ended', worker, number, since, used: amount(tokens) });
  }

  after(ms: number): this {
    this.now += ms;
    return this.hear();
  }

  /** What was said of the calls so far: +w/1 granted, -w/2 refused. */
  get words(): string[] {
    return [
      ...this.granted.map(({ worker, number, isCheaper }) => `+${worker}/${number}${isCheaper ? ' cheaper' : ''}`),
      ...this.refused.map(({ worker, number }) => `-${worker}/${number}`),
    ];
  }

  get view() {
    return tenantBudgetView(this.state);
  }

  private since(worker: string, number: number): number | null {
    return this.granted.find((each) => each.worker === worker && each.number === number)?.since ?? null;
  }
}
