import type { Books, BudgetLimits } from '../budget.js';
import { ParleyError } from '../errors.js';
import type { Amount } from '../session/setup.js';
import type { NumberRanges } from './number-ranges.js';

/** From the outermost inwards. A run may stand in a run and an agent tree in an agent tree; the others nest in this order. */
export const accountLevels = ['tenant', 'run', 'agent_tree', 'lane'] as const;
export type AccountLevel = (typeof accountLevels)[number];

/** What happens as a budget comes to its end, in this order (spec 08 "Budget ledger"). */
export const budgetSteps = ['warn', 'cheaper_model', 'ask', 'stop'] as const;
export type BudgetStep = (typeof budgetSteps)[number];

export const budgetUnits = ['tokens', 'usd', 'time'] as const;
export type BudgetUnit = (typeof budgetUnits)[number];

/** null is no limit. `maxMs` is time by the clock since the account was opened, without what its clock was held. */
export interface AccountLimits extends BudgetLimits {
  maxMs: number | null;
}

export interface AccountTerms {
  limits: AccountLimits;
  /** Whole percent of a limit that has to be spent, from which it is told, or a cheaper model is wanted; null: never. */
  warnPercent: number | null;
  cheaperPercent: number | null;
  /** Whether a person is asked before calls are refused for good. */
  asks: boolean;
  /** A call that does not fit what is left: refused, or admitted while something is left, one such call at a time. */
  lastCall: 'refused' | 'admitted';
}

export interface Account {
  accountId: string;
  level: AccountLevel;
  /** null: the outermost. */
  parentId: string | null;
  /** As opened; `limits` are those in force, which a person may have raised. */
  terms: AccountTerms;
  limits: AccountLimits;
  /** By all calls of this account and those below it: `own`, what open accounts below have spent, and `closed`. */
  spent: Amount;
  own: Amount;
  /** What accounts below had spent that are closed by now. */
  closed: Amount;
  /** By open calls of this account and those below it. */
  reserved: Amount;
  told: BudgetStep[];
  asked: 'no' | 'open' | 'stopped';
  /** Numbers of its own calls that have been settled: each is settled once. */
  settled: NumberRanges;
  openedAt: number;
  heldMs: number;
  heldSince: number | null;
  /** Who holds the clock: ids of requests to persons. */
  holds: string[];
}

export interface CallId {
  accountId: string;
  /** Counted by the account from 1. A number is taken once its call is admitted, and never stands for another call then. */
  number: number;
}

export interface OpenCall extends CallId {
  amount: Amount;
  /** Accounts whose limit it may pass. */
  overdraws: string[];
  holder: string;
  expiresAt: number;
}

/**
 * The whole ledger as plain JSON: what continue-as-new carries is this. Settled calls stand in it as ranges of numbers, so
 * that it grows with accounts and open calls alone.
 */
export interface LedgerState {
  accounts: Account[];
  calls: OpenCall[];
}

export const emptyLedger: LedgerState = { accounts: [], calls: [] };

export const findAccount = (ledger: LedgerState, accountId: string): Account | undefined =>
  ledger.accounts.find((account) => account.accountId === accountId);

export const findCall = (ledger: LedgerState, { accountId, number }: CallId): OpenCall | undefined =>
  ledger.calls.find((call) => call.accountId === accountId && call.number === number);

/** The account and those above it, itself first. @throws ParleyError not_found, where it has not been opened or is closed */
export const pathOf = (ledger: LedgerState, accountId: string): Account[] => {
  const path: Account[] = [];
  for (let id: string | null = accountId; id !== null; ) {
    const account = findAccount(ledger, id);
    if (!account) throw new ParleyError('not_found', `no account ${id} is open in this ledger; open it first`);
    path.push(account);
    id = account.parentId;
  }
  return path;
};

/** Changes the accounts of a path. */
export const changeAccounts = (
  ledger: LedgerState,
  path: readonly Account[],
  change: (account: Account) => Account,
): LedgerState => {
  const ids = new Set(path.map(({ accountId }) => accountId));
  return {
    ...ledger,
    accounts: ledger.accounts.map((account) => (ids.has(account.accountId) ? change(account) : account)),
  };
};

/** One account as a piece of work's own budget has it. */
export const booksOf = ({ limits, reserved, spent }: Account): Books => ({ limits, reserved, spent });

/** Whole units and at least 0, so that sums stay exact. @throws ParleyError invalid_request */
export const checkAmount = (amount: Amount, what: string): void => {
  for (const [unit, value] of [
    ['tokens', amount.tokens],
    ['millionths of a dollar', amount.usdMicros],
  ] as const) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new ParleyError('invalid_request', `${what} must be a whole number of ${unit}, 0 or more; got ${value}`);
  }
};
