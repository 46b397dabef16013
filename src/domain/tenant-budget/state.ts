import { openAccount } from '../ledger/accounts.js';
import { emptyLedger, type LedgerState } from '../ledger/state.js';
import type { BudgetNotice } from '../ledger/steps.js';
import type { Amount } from '../session/setup.js';
import { type Period, periodAt } from './period.js';
import { type TenantBudgetSettings, termsOf } from './settings.js';

/** One period's accounts: the tenant's, and one below it for each worker, in which its calls are numbered. */
export interface BudgetBooks extends Period {
  ledger: LedgerState;
}

/** A call is known by its worker and a number that the worker counts. */
export interface BudgetDemand {
  worker: string;
  number: number;
  /** The most that it can use where `isCapped`, else what it is likely to. */
  amount: Amount;
  isCapped: boolean;
  /** What it would be with the cheaper model that may be asked in its place; null: there is none. */
  cheaper: Amount | null;
  /** Where a person has to answer first it does not wait: it is told so, and comes again. Left out: it waits. */
  comesAgain?: true;
}

export interface WaitingDemand extends BudgetDemand {
  /** When it is forgotten unless its worker names it again, epoch milliseconds. */
  expiresAt: number;
}

export interface EndedPeriod {
  startsAt: number;
  endsAt: number;
  spent: Amount;
}

/** A tenant's budget as plain JSON: what continue-as-new carries is this. */
export interface TenantBudgetState {
  settings: TenantBudgetSettings;
  books: BudgetBooks;
  /** Periods that are over and have calls under way: a call counts in the period in which it was admitted. */
  earlier: BudgetBooks[];
  /** The last one that is over as a whole; null: none yet. */
  before: EndedPeriod | null;
  /** In order of arrival. */
  queue: WaitingDemand[];
  /** What was told of this period, oldest first. */
  notices: BudgetNotice[];
  /** When each worker last said something, epoch milliseconds. */
  heard: Record<string, number>;
}

/** No tenant has such a name. */
export const workerAccount = (worker: string): string => `worker ${worker}`;

export const openBooks = (settings: TenantBudgetSettings, now: number): BudgetBooks => {
  const account = { accountId: settings.tenant, level: 'tenant', parentId: null, terms: termsOf(settings) } as const;
  return { ...periodAt(settings.period, now), ledger: openAccount(emptyLedger, account, now) };
};

export const newTenantBudget = (settings: TenantBudgetSettings, now: number): TenantBudgetState => ({
  settings,
  books: openBooks(settings, now),
  earlier: [],
  before: null,
  queue: [],
  notices: [],
  heard: {},
});
