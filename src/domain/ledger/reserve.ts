import { add, available, type Books, budgetFaults, noAmount } from '../budget.js';
import { ParleyError } from '../errors.js';
import type { Amount } from '../session/setup.js';
import { leastTimeLeftMs, timeLeftMs } from './clock.js';
import { includesNumber } from './number-ranges.js';
import {
  type Account,
  type AccountLevel,
  booksOf,
  type BudgetStep,
  type CallId,
  changeAccounts,
  checkAmount,
  findCall,
  type LedgerState,
  pathOf,
} from './state.js';
import { type BudgetNotice, durationWords, tellReached, tellRefused } from './steps.js';

export interface CallRequest extends CallId {
  /** What is held for it at every level: the most that it can use where `isCapped`, else what it is likely to. */
  amount: Amount;
  /** Whether the provider itself keeps the call within `amount`. Of the others a limited account has one open at a time. */
  isCapped: boolean;
  /** No cheaper model could be asked in its place. */
  isCheapest: boolean;
  /** Who answers for it: when it is dead, its reservations go back. */
  holder: string;
  /** When the reservation goes back by itself, epoch milliseconds: after the call's own time limit. */
  expiresAt: number;
}

/** What helps against a refusal: to wait until open calls are settled, or the next step of the budget. */
export type Remedy = 'wait' | Exclude<BudgetStep, 'warn'>;
const remedies: readonly Remedy[] = ['wait', 'cheaper_model', 'ask', 'stop'];

export interface AccountFault {
  accountId: string;
  level: AccountLevel;
  code: 'EBUDGET';
  message: string;
}

export type ReserveResult = { ledger: LedgerState; notices: BudgetNotice[] } & (
  | {
      /** `repeated`: it is open as first admitted; `settled`: it has been made and paid, and must not be made again. */
      outcome: 'admitted' | 'repeated' | 'settled';
      /** Some account asks for a cheaper model where there is one. */
      wantsCheaper: boolean;
      /** How long the call may take; null: no limit. */
      timeLeftMs: number | null;
    }
  | { outcome: 'refused'; faults: AccountFault[]; remedy: Remedy }
);

interface Verdict {
  account: Account;
  messages: string[];
  remedy: Remedy;
  overdraws: boolean;
}

const isLimited = ({ limits }: Account): boolean => limits.maxTokens !== null || limits.maxUsdMicros !== null;

/** Whether something is left of each limit that `amount` draws on. */
const hasRest = (books: Books, amount: Amount): boolean => {
  const { tokens, usdMicros } = available(books);
  return (tokens !== 0 || amount.tokens === 0) && (usdMicros !== 0 || amount.usdMicros === 0);
};

/** Whether a limit has been passed: then what nobody caps is not free, though it is thought to use nothing. */
const isPassed = ({ limits, spent, reserved }: Books): boolean =>
  (limits.maxTokens !== null && spent.tokens + reserved.tokens > limits.maxTokens) ||
  (limits.maxUsdMicros !== null && spent.usdMicros + reserved.usdMicros > limits.maxUsdMicros);

/** Whether the call is admitted by these books, were no other open that may pass the limit. */
const takes = (account: Account, books: Books, amount: Amount): boolean =>
  budgetFaults(books, amount).length === 0 || (account.terms.lastCall === 'admitted' && hasRest(books, amount));

const stepAfter = (account: Account, request: CallRequest, isTimeOver: boolean): Remedy => {
  if (account.asked === 'stopped') return 'stop';
  if (account.terms.cheaperPercent !== null && !request.isCheapest && !isTimeOver) return 'cheaper_model';
  return account.terms.asks ? 'ask' : 'stop';
};

/**
 * One level's word. At most one open call of an account may pass its limit, and that one only joins calls that all fit: so
 * what is spent never passes a limit by more than one call.
 */
const judge = (ledger: LedgerState, account: Account, request: CallRequest, now: number): Verdict => {
  const { amount } = request;
  const books = booksOf(account);
  const messages = budgetFaults(books, amount).map(({ message }) => message);
  const fits = messages.length === 0;
  const overdraws = isLimited(account) && !(fits && request.isCapped);
  const isTaken = ledger.calls.some((call) => call.overdraws.includes(account.accountId));
  const isTimeOver = timeLeftMs(account, now) === 0;
  if (!isTaken && takes(account, books, amount)) messages.length = 0;
  const isBeyond = !request.isCapped && isPassed(books);
  if (isBeyond && messages.length === 0) messages.push('has passed its limit; what a further call uses is not known');
  const mustWait = overdraws && isTaken && messages.length === 0;
  if (mustWait) messages.push('has a call open that may pass its limit; another such call has to wait for its end');
  if (isTimeOver) messages.push(`has used up its time of ${durationWords(account.limits.maxMs ?? 0)}`);
  if (account.asked === 'stopped')
    messages.push('was stopped by a person, or as nobody answered; give it other limits to go on');
  const settledBooks = { ...books, reserved: noAmount };
  const isHeldUp = mustWait || (takes(account, settledBooks, amount) && !(isBeyond && isPassed(settledBooks)));
  const helpsWaiting = !isTimeOver && account.asked !== 'stopped' && isHeldUp;
  const remedy = helpsWaiting ? 'wait' : stepAfter(account, request, isTimeOver);
  return { account, messages, remedy, overdraws };
};

const refuse = (ledger: LedgerState, against: readonly Verdict[], now: number): ReserveResult => {
  const remedy = remedies.findLast((each) => against.some((verdict) => verdict.remedy === each)) ?? 'stop';
  const faults = against.flatMap(({ account: { accountId, level }, messages }) =>
    messages.map((message) => ({ accountId, level, code: 'EBUDGET' as const, message })),
  );
  if (remedy === 'wait') return { ledger, notices: [], outcome: 'refused', faults, remedy };
  const notices: BudgetNotice[] = [];
  const telling = against.filter((verdict) => verdict.remedy === remedy);
  const accounts = telling.map(({ account }) => account);
  const told = changeAccounts(ledger, accounts, (account) => {
    const words = telling.find((verdict) => verdict.account.accountId === account.accountId)?.messages.join('; ') ?? '';
    const { account: next, notices: said } = tellRefused(account, remedy, words, now);
    notices.push(...said);
    return remedy === 'ask' ? { ...next, asked: 'open' } : next;
  });
  return { ledger: told, notices, outcome: 'refused', faults, remedy };
};

/**
 * Holds a call's amount in its account and all above it, or in none (spec 08 "Reserve before each call"). The same call again
 * changes nothing. `now` is epoch milliseconds.
 * @throws ParleyError not_found, invalid_request
 */
export const reserveCall = (ledger: LedgerState, request: CallRequest, now: number): ReserveResult => {
  const { accountId, number, amount, holder, expiresAt } = request;
  checkAmount(amount, `the amount of call ${number} of ${accountId}`);
  if (!Number.isSafeInteger(number) || number < 1) {
    throw new ParleyError('invalid_request', `a call's number is a whole number from 1; got ${number} of ${accountId}`);
  }
  const path = pathOf(ledger, accountId);
  const wantsCheaper = path.some(({ told }) => told.includes('cheaper_model'));
  const left = leastTimeLeftMs(ledger, accountId, now);
  const known = (outcome: 'repeated' | 'settled'): ReserveResult => ({
    ledger,
    notices: [],
    outcome,
    wantsCheaper,
    timeLeftMs: left,
  });
  if (findCall(ledger, request)) return known('repeated');
  if (includesNumber(path[0]?.settled ?? [], number)) return known('settled');

  const verdicts = path.map((account) => judge(ledger, account, request, now));
  const against = verdicts.filter(({ messages }) => messages.length > 0);
  if (against.length > 0) return refuse(ledger, against, now);

  const notices: BudgetNotice[] = [];
  const overdraws = verdicts.filter((verdict) => verdict.overdraws).map(({ account }) => account.accountId);
  const held = changeAccounts(ledger, path, (account) => {
    const { account: next, notices: said } = tellReached(account, now);
    notices.push(...said);
    return { ...next, reserved: add(next.reserved, amount) };
  });
  const calls = [...held.calls, { accountId, number, amount, overdraws, holder, expiresAt }];
  return { ledger: { ...held, calls }, notices, outcome: 'admitted', wantsCheaper, timeLeftMs: left };
};
