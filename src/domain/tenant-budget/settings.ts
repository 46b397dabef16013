import { type BudgetLimits } from '../budget.js';
import type { AccountTerms } from '../ledger/state.js';
import type { BudgetPeriod } from './period.js';

/** What a tenant may use in each period, by all its work together (spec 08 "Budget ledger"). */
export interface TenantBudgetSettings {
  tenant: string;
  limits: BudgetLimits;
  period: BudgetPeriod;
  /** Whole percent of a limit; `cheaperPercent` null: no cheaper model is asked for. */
  warnPercent: number;
  cheaperPercent: number | null;
  /** Whether calls wait for a person once the budget is used up; else they are refused. */
  asks: boolean;
  /** For so long what a worker holds stands without a word of it; left out by workers of before it could be said. */
  leaseMs?: number;
}

/** Milliseconds. */
export const leaseOf = ({ leaseMs = 120_000 }: TenantBudgetSettings): number => leaseMs;

/** Terms of the tenant's account: a call that does not fit what is left goes out while something is left, one at a time. */
export const termsOf = ({ limits, warnPercent, cheaperPercent, asks }: TenantBudgetSettings): AccountTerms => ({
  limits: { ...limits, maxMs: null },
  warnPercent,
  cheaperPercent,
  asks,
  lastCall: 'admitted',
});

/** Terms of a worker's account, in which its calls are numbered: nothing limits it by itself. */
export const workerTerms: AccountTerms = {
  limits: { maxTokens: null, maxUsdMicros: null, maxMs: null },
  warnPercent: null,
  cheaperPercent: null,
  asks: false,
  lastCall: 'admitted',
};
