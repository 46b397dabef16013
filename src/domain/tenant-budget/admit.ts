import { type CallRequest, reserveCall, type ReserveResult } from '../ledger/reserve.js';
import { findAccount, type LedgerState, type OpenCall } from '../ledger/state.js';
import type { BudgetNotice } from '../ledger/steps.js';
import type { Amount } from '../session/setup.js';
import { periodWords } from './period.js';
import { leaseOf, type TenantBudgetSettings } from './settings.js';
import { type BudgetBooks, type BudgetDemand, workerAccount } from './state.js';

export type AdmitOutcome =
  | { type: 'admitted'; isCheaper: boolean }
  | { type: 'waits' }
  /** `message` null: it has been paid for by that number. */
  | { type: 'refused'; message: string | null; isAsked?: true };

const isEqual = (a: Amount, b: Amount): boolean => a.tokens === b.tokens && a.usdMicros === b.usdMicros;

/** By which of its two prices a call is held. */
export const heldAs = ({ amount }: OpenCall, { amount: asked, cheaper }: BudgetDemand): 'asked' | 'cheaper' =>
  cheaper !== null && isEqual(amount, cheaper) && !isEqual(amount, asked) ? 'cheaper' : 'asked';

const refusalOf = (
  { startsAt }: BudgetBooks,
  { tenant, period }: TenantBudgetSettings,
  faults: readonly { message: string }[],
): string =>
  `the budget of tenant ${tenant}${periodWords(period, startsAt)}: ${faults.map(({ message }) => message).join('; ')}. ` +
  `An operator can give it more: parley budget ${tenant} --max-usd or --max-tokens, or POST /v1/budgets/${tenant}`;

/** Reserves a call, with the cheaper model where the budget wants that and there is one. */
export const admit = (
  books: BudgetBooks,
  settings: TenantBudgetSettings,
  demand: BudgetDemand,
  now: number,
): { ledger: LedgerState; notices: BudgetNotice[]; outcome: AdmitOutcome } => {
  const { worker, number, isCapped, cheaper, comesAgain } = demand;
  const request = (amount: Amount, isCheapest: boolean): CallRequest => ({
    accountId: workerAccount(worker),
    number,
    amount,
    isCapped,
    isCheapest,
    holder: worker,
    expiresAt: now + leaseOf(settings),
  });
  const wantsCheaper = findAccount(books.ledger, settings.tenant)?.told.includes('cheaper_model') === true;
  const notices: BudgetNotice[] = [];
  const reserved = (ledger: LedgerState, isCheaper: boolean): ReserveResult => {
    const amount = isCheaper && cheaper !== null ? cheaper : demand.amount;
    const result = reserveCall(ledger, request(amount, isCheaper || cheaper === null), now);
    notices.push(...result.notices);
    return result;
  };
  let isCheaper = wantsCheaper && cheaper !== null;
  let result = reserved(books.ledger, isCheaper);
  if (result.outcome === 'refused' && result.remedy === 'cheaper_model' && cheaper !== null) {
    isCheaper = true;
    result = reserved(result.ledger, isCheaper);
  }
  const { ledger } = result;
  switch (result.outcome) {
    case 'admitted':
    case 'repeated':
      return { ledger, notices, outcome: { type: 'admitted', isCheaper } };
    case 'settled':
      return { ledger, notices, outcome: { type: 'refused', message: null } };
    case 'refused': {
      const isAsked = result.remedy === 'ask' && comesAgain === true;
      if (result.remedy !== 'stop' && !isAsked) return { ledger, notices, outcome: { type: 'waits' } };
      const message = refusalOf(books, settings, result.faults);
      return { ledger, notices, outcome: { type: 'refused', message, ...(isAsked && { isAsked }) } };
    }
  }
};
