import { ParleyError } from '../../src/domain/errors.js';
import type { Amount } from '../../src/domain/session/setup.js';

/** A call whose price a tenant's budget has to hold first. */
export interface BudgetedCall {
  tenant: string;
  /** The most that it can use where `isCapped`, else what it is likely to. */
  amount: Amount;
  isCapped: boolean;
  /** The same with the cheaper model that may be asked in its place; null: there is none. */
  cheaper: Amount | null;
}

/** A person is asked for more first: the call has not been made and holds nothing, and is to come again once it may be made. */
export class PersonAskedError extends ParleyError {
  constructor(
    message: string,
    readonly call: BudgetedCall,
  ) {
    super('EBUDGET', message, { retryable: true });
  }
}

/** A call that may be made now. */
export interface Reservation {
  /** Whether the cheaper model has to be asked. */
  isCheaper: boolean;
  /** What it used in all, nothing where it was never made. Only the first end counts. */
  end(used: Amount): void;
}

/** What a tenant's budget is to its worker, beside its figures. */
export interface BudgetRules {
  /** Whether tokens are limited: programs cost no money, but write. */
  limitsTokens: boolean;
  /** Which model is asked in place of which, from some share of the budget on. */
  cheaperModels: Readonly<Record<string, string>>;
}

/** Keeps the budgets of tenants over all workers, and knows of one worker's calls. */
export interface TenantBudgets {
  /** null: nothing limits the tenant, and nothing is to be asked. */
  rulesOf(tenant: string): BudgetRules | null;
  /**
   * Settles once the call may be made; it has to be ended in any case.
   * @param comesAgain it does not wait for a person
   * @throws PersonAskedError where it `comesAgain` and a person is asked
   * @throws ParleyError EBUDGET, which is retryable, when the budget is used up; EDRAINING when the worker stops
   * @throws what `signal` was aborted with
   */
  reserve(call: BudgetedCall, signal: AbortSignal, comesAgain?: boolean): Promise<Reservation>;
  /** Tells what has ended, and refuses what still waits. May be called twice. */
  close(): Promise<void>;
}
