import { add, noAmount } from '../budget.js';
import { canonicalJson } from '../canonical-json.js';
import { ParleyError } from '../errors.js';
import {
  type Account,
  type AccountLevel,
  accountLevels,
  type AccountLimits,
  type AccountTerms,
  findAccount,
  type LedgerState,
  pathOf,
} from './state.js';
import { stepsReached } from './steps.js';

export interface AccountOpening {
  accountId: string;
  level: AccountLevel;
  parentId: string | null;
  terms: AccountTerms;
}

const whole = (value: number | null, most: number): boolean =>
  value === null || (Number.isSafeInteger(value) && value >= 0 && value <= most);

const limitFaults = ({ maxTokens, maxUsdMicros, maxMs }: AccountLimits): string[] =>
  Object.entries({ maxTokens, maxUsdMicros, maxMs }).flatMap(([name, value]) =>
    whole(value, Number.MAX_SAFE_INTEGER) ? [] : [`${name} must be a whole number, 0 or more, or null; got ${value}`],
  );

const nests = (outer: AccountLevel, inner: AccountLevel): boolean =>
  accountLevels.indexOf(outer) < accountLevels.indexOf(inner) ||
  (outer === inner && (inner === 'run' || inner === 'agent_tree'));

const openingFaults = ({ level, terms }: AccountOpening, parent: Account | undefined): string[] => [
  ...limitFaults(terms.limits),
  ...(['warnPercent', 'cheaperPercent'] as const).flatMap((name) =>
    whole(terms[name], 100) ? [] : [`${name} must be a whole number from 0 to 100, or null; got ${terms[name]}`],
  ),
  ...(parent && !nests(parent.level, level)
    ? [
        `its level ${level} does not stand in the ${parent.level} ${parent.accountId}; levels nest as ${accountLevels.join(' > ')}`,
      ]
    : []),
];

/**
 * Opens an account. To open it once more as it was opened changes nothing.
 * @throws ParleyError not_found, without its parent; invalid_request, naming every fault; conflict, opened otherwise before
 */
export const openAccount = (ledger: LedgerState, opening: AccountOpening, now: number): LedgerState => {
  const { accountId, level, parentId, terms } = opening;
  const before = findAccount(ledger, accountId);
  if (before) {
    const same = canonicalJson({ level, parentId, terms });
    if (canonicalJson({ level: before.level, parentId: before.parentId, terms: before.terms }) === same) return ledger;
    throw new ParleyError('conflict', `account ${accountId} is open with other terms; close it, or take another id`);
  }
  const parent = parentId === null ? undefined : pathOf(ledger, parentId)[0];
  const faults = openingFaults(opening, parent);
  if (faults.length > 0) throw new ParleyError('invalid_request', `account ${accountId}: ${faults.join('; ')}`);
  const holds = parent?.holds ?? [];
  const account: Account = {
    accountId,
    level,
    parentId,
    terms,
    limits: terms.limits,
    spent: noAmount,
    own: noAmount,
    closed: noAmount,
    reserved: noAmount,
    told: [],
    asked: 'no',
    settled: [],
    openedAt: now,
    heldMs: 0,
    heldSince: holds.length > 0 ? now : null,
    holds: [...holds],
  };
  return { ...ledger, accounts: [...ledger.accounts, account] };
};

/**
 * Closes an account: what it has spent stays with those above it. One that is not open is closed already.
 * @throws ParleyError conflict, while calls or accounts below it are open
 */
export const closeAccount = (ledger: LedgerState, accountId: string): LedgerState => {
  const account = findAccount(ledger, accountId);
  if (!account) return ledger;
  const open = [
    ...ledger.calls.filter((call) => call.accountId === accountId).map(({ number }) => `call ${number}`),
    ...ledger.accounts.filter(({ parentId }) => parentId === accountId).map((below) => `account ${below.accountId}`),
  ];
  if (open.length > 0) {
    const message = `account ${accountId} has open: ${open.join(', ')}; settle or expire its calls and close what is below it first`;
    throw new ParleyError('conflict', message);
  }
  return {
    ...ledger,
    accounts: ledger.accounts
      .filter((other) => other !== account)
      .map((other) =>
        other.accountId === account.parentId ? { ...other, closed: add(other.closed, account.spent) } : other,
      ),
  };
};

/** Steps of the limits before that are not reached any more may come anew. */
const withLimits = (account: Account, limits: AccountLimits, now: number): Account => {
  const raised: Account = { ...account, limits, asked: 'no' };
  const reached = stepsReached(raised, now).map(({ step }) => step);
  return { ...raised, told: account.told.filter((step) => reached.includes(step)) };
};

const replaced = (ledger: LedgerState, account: Account, next: Account): LedgerState => ({
  ...ledger,
  accounts: ledger.accounts.map((other) => (other === account ? next : other)),
});

/**
 * What a person answers whom a budget asked: other limits, after which steps may come anew, or that it stops, after which no
 * call is admitted until limits are given all the same. @throws ParleyError not_found, invalid_request
 */
export const answerBudget = (
  ledger: LedgerState,
  accountId: string,
  answer: { limits: AccountLimits } | 'stop',
  now: number,
): LedgerState => {
  const [account] = pathOf(ledger, accountId);
  if (!account) return ledger;
  if (answer !== 'stop') {
    const faults = limitFaults(answer.limits);
    if (faults.length > 0) throw new ParleyError('invalid_request', `account ${accountId}: ${faults.join('; ')}`);
  }
  const next: Account = answer === 'stop' ? { ...account, asked: 'stopped' } : withLimits(account, answer.limits, now);
  return replaced(ledger, account, next);
};

/**
 * Other terms for an account that is open. Limits that a person gave hold on, unless those of the terms are others than before.
 * @throws ParleyError not_found, invalid_request
 */
export const changeTerms = (ledger: LedgerState, accountId: string, terms: AccountTerms, now: number): LedgerState => {
  const [account] = pathOf(ledger, accountId);
  if (!account) return ledger;
  const faults = openingFaults({ accountId, level: account.level, parentId: account.parentId, terms }, undefined);
  if (faults.length > 0) throw new ParleyError('invalid_request', `account ${accountId}: ${faults.join('; ')}`);
  const isSame = canonicalJson({ ...terms.limits }) === canonicalJson({ ...account.terms.limits });
  const changed = { ...account, terms };
  return replaced(ledger, account, isSame ? changed : withLimits(changed, terms.limits, now));
};
