import { add, budgetFaults, noAmount, subtract } from '../budget.js';
import type { Amount } from '../session/setup.js';
import { includesNumber, withNumber } from './number-ranges.js';
import type { AccountFault } from './reserve.js';
import {
  booksOf,
  type CallId,
  changeAccounts,
  checkAmount,
  findAccount,
  findCall,
  type LedgerState,
  type OpenCall,
  pathOf,
} from './state.js';
import { type BudgetNotice, nextTimeStep, tellReached } from './steps.js';

/** Numbers that an account skipped for good are rare; beyond so many the lowest of them count as settled. */
const mostRanges = 64;

/** Takes an open call off the books: what it held is available again, at every level. */
const withoutCall = (ledger: LedgerState, call: OpenCall): LedgerState => {
  const freed = changeAccounts(ledger, pathOf(ledger, call.accountId), (account) => ({
    ...account,
    reserved: subtract(account.reserved, call.amount),
  }));
  return { ...freed, calls: freed.calls.filter((open) => open !== call) };
};

export interface SettleResult {
  ledger: LedgerState;
  notices: BudgetNotice[];
  /**
   * `late`: nothing was held for it any more, and what it used is spent all the same. Nothing has changed where it is
   * `repeated`, or its account `closed`.
   */
  outcome: 'settled' | 'late' | 'repeated' | 'closed';
}

/**
 * A call has ended, whatever its outcome, with what it `used` in all its tries (nothing, where it was never made). What it
 * used is a fact, and spent at every level, even beyond a limit. @throws ParleyError invalid_request
 */
export const settleCall = (ledger: LedgerState, id: CallId, used: Amount, now: number): SettleResult => {
  checkAmount(used, `what call ${id.number} of ${id.accountId} used`);
  const account = findAccount(ledger, id.accountId);
  if (!account) return { ledger, notices: [], outcome: 'closed' };
  const open = findCall(ledger, id);
  // An open call is looked for first: its number may stand in a gap that has been closed.
  if (!open && includesNumber(account.settled, id.number)) return { ledger, notices: [], outcome: 'repeated' };
  const freed = open ? withoutCall(ledger, open) : ledger;
  const notices: BudgetNotice[] = [];
  const settled = changeAccounts(freed, pathOf(freed, id.accountId), (each) => {
    const isOwn = each.accountId === id.accountId;
    const { account: next, notices: said } = tellReached({ ...each, spent: add(each.spent, used) }, now);
    notices.push(...said);
    if (!isOwn) return next;
    return { ...next, own: add(each.own, used), settled: withNumber(each.settled, id.number, mostRanges) };
  });
  return { ledger: settled, notices, outcome: open ? 'settled' : 'late' };
};

/**
 * What a call has used so far, where it streams: beyond its reservation it holds more, so that no other call is admitted on what
 * is gone. @returns the limits that it passes; a call that was admitted beyond a limit does not pass this one
 */
export const reportUse = (
  ledger: LedgerState,
  id: CallId,
  used: Amount,
): { ledger: LedgerState; faults: AccountFault[] } => {
  checkAmount(used, `what call ${id.number} of ${id.accountId} has used`);
  const open = findCall(ledger, id);
  if (!open) return { ledger, faults: [] };
  const path = pathOf(ledger, id.accountId);
  const more = subtract(used, open.amount);
  const faults = path.flatMap((account) => {
    const { accountId, level } = account;
    if (open.overdraws.includes(accountId)) return [];
    const without = { ...booksOf(account), reserved: subtract(account.reserved, open.amount) };
    return budgetFaults(without, used).map(({ message }) => ({ accountId, level, code: 'EBUDGET' as const, message }));
  });
  if (more.tokens === 0 && more.usdMicros === 0) return { ledger, faults };
  const held = changeAccounts(ledger, path, (account) => ({ ...account, reserved: add(account.reserved, more) }));
  const calls = held.calls.map((call) => (call === open ? { ...open, amount: add(open.amount, more) } : call));
  return { ledger: { ...held, calls }, faults };
};

/** The holder is alive: its open calls, of these numbers where they are given, expire no earlier than `expiresAt`. */
export const renewHolder = (
  ledger: LedgerState,
  holder: string,
  expiresAt: number,
  numbers?: ReadonlySet<number>,
): LedgerState => ({
  ...ledger,
  calls: ledger.calls.map((call) =>
    call.holder === holder && call.expiresAt < expiresAt && numbers?.has(call.number) !== false
      ? { ...call, expiresAt }
      : call,
  ),
});

const withoutCalls = (
  ledger: LedgerState,
  isGone: (call: OpenCall) => boolean,
): { ledger: LedgerState; expired: OpenCall[] } => {
  const expired = ledger.calls.filter(isGone);
  return { ledger: expired.reduce(withoutCall, ledger), expired };
};

/** Gives back what a dead holder's calls held. A number is not settled by that: what it used may still come. */
export const expireHolder = (ledger: LedgerState, holder: string): { ledger: LedgerState; expired: OpenCall[] } =>
  withoutCalls(ledger, (call) => call.holder === holder);

/** What time alone brings: reservations that expire at `now` or before, and limits of time that come near. */
export const tickLedger = (
  ledger: LedgerState,
  now: number,
): { ledger: LedgerState; expired: OpenCall[]; notices: BudgetNotice[] } => {
  const { ledger: left, expired } = withoutCalls(ledger, (call) => call.expiresAt <= now);
  const told = left.accounts.map((account) => tellReached(account, now));
  return {
    ledger: { ...left, accounts: told.map(({ account }) => account) },
    expired,
    notices: told.flatMap(({ notices }) => notices),
  };
};

/** When `tickLedger` has something to do next, epoch milliseconds; null: never, as things are. */
export const nextLedgerTick = (ledger: LedgerState, now: number): number | null => {
  const dues = [
    ...ledger.calls.map(({ expiresAt }) => expiresAt),
    ...ledger.accounts.flatMap((account) => nextTimeStep(account, now) ?? []),
  ];
  return dues.length === 0 ? null : Math.min(...dues);
};

/** Whether what is held and spent adds up at every level: in tests, and wherever a state comes from outside. */
export const addsUp = ({ accounts, calls }: LedgerState): boolean =>
  accounts.every((account) => {
    const below = accounts.filter(({ parentId }) => parentId === account.accountId);
    const own = calls.filter(({ accountId }) => accountId === account.accountId);
    const spent = [account.own, account.closed, ...below.map((each) => each.spent)].reduce(add, noAmount);
    const reserved = [...own.map(({ amount }) => amount), ...below.map((each) => each.reserved)].reduce(add, noAmount);
    return (
      spent.tokens === account.spent.tokens &&
      spent.usdMicros === account.spent.usdMicros &&
      reserved.tokens === account.reserved.tokens &&
      reserved.usdMicros === account.reserved.usdMicros
    );
  });
