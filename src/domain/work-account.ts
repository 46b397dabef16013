import type { TimedBudget, TimeUsed } from '../contracts/work.js';
import { add, type AmountLeft, available, budgetFaults, type BudgetLimits, micros, noAmount } from './budget.js';
import { openAccount } from './ledger/accounts.js';
import { holdClock, resumeClock, timeEndOf as endOf, timeLeftMs } from './ledger/clock.js';
import { reserveCall } from './ledger/reserve.js';
import { reportUse, settleCall } from './ledger/settle.js';
import { type Account, type AccountTerms, booksOf, emptyLedger, findCall, type LedgerState } from './ledger/state.js';
import { timeUsedOf } from './ledger/time-used.js';
import type { Amount } from './session/setup.js';
import type { Fault } from './window.js';

/**
 * The budget of a piece of work, as the one account of a ledger that the work carries (decision 29): it tells no steps, and
 * admits no call beyond what is left. Calls have the numbers in which they were admitted.
 */
const accountId = 'work';

/** Who holds the clock while a person is waited for: work waits for one thing at a time. */
const holder = 'person';

/** Where time is no limit nothing depends on the clock. */
const anyTime = 0;
const most = Number.MAX_SAFE_INTEGER;

/** Left out: time is no limit. Setups of before it could be one have no such member. */
export interface WorkLimits extends BudgetLimits {
  maxMs?: number;
}

/** The limits that a budget on the wire gives; without one in dollars or seconds there is no such limit. */
export const workLimits = ({ max_tokens, max_usd, max_seconds }: TimedBudget): WorkLimits => ({
  maxTokens: max_tokens ?? null,
  maxUsdMicros: max_usd === undefined ? null : micros(max_usd),
  ...(max_seconds !== undefined && { maxMs: max_seconds * 1000 }),
});

const terms = ({ maxTokens, maxUsdMicros, maxMs }: WorkLimits): AccountTerms => ({
  limits: { maxTokens, maxUsdMicros, maxMs: maxMs ?? null },
  warnPercent: null,
  cheaperPercent: null,
  asks: false,
  lastCall: 'refused',
});

/** What agents say of themselves may be beyond counting: then it is as much as can be counted. */
const countable = ({ tokens, usdMicros }: Amount): Amount => ({
  tokens: Math.min(tokens, most),
  usdMicros: Math.min(usdMicros, most),
});

const isNothing = ({ tokens, usdMicros }: Amount): boolean => tokens === 0 && usdMicros === 0;

/** `openedAt`: epoch milliseconds, when the work began; `spent`: what it has used before. */
export const openWorkAccount = (limits: WorkLimits, openedAt: number, spent: Amount = noAmount): LedgerState => {
  const opening = { accountId, level: 'run' as const, parentId: null, terms: terms(limits) };
  return pay(openAccount(emptyLedger, opening, openedAt), spent);
};

const accountOf = ({ accounts }: LedgerState): Account => {
  const [account] = accounts;
  if (!account) throw new RangeError('the ledger of a piece of work has an account from its start');
  return account;
};

const numberOfNext = (ledger: LedgerState): number =>
  1 + Math.max(accountOf(ledger).settled.at(-1)?.[1] ?? 0, ...ledger.calls.map(({ number }) => number));

/** What calls that have ended used, in the limits of the work or beyond them. */
export const spentOf = (ledger: LedgerState): Amount => accountOf(ledger).spent;

/** What calls under way hold. */
export const reservedOf = (ledger: LedgerState): Amount => accountOf(ledger).reserved;

/** What no call has used or holds. */
export const leftOf = (ledger: LedgerState): AmountLeft => available(booksOf(accountOf(ledger)));

/** The number of the call under way, where there is one at a time; null: there is none. */
export const openCall = ({ calls }: LedgerState): number | null => calls[0]?.number ?? null;

/** A call that is held, by its number; or every limit that it does not fit, and whether it may once others have ended. */
export type Held = { ledger: LedgerState; call: number } | { faults: string[]; mayWait: boolean };

/**
 * Holds `amount` for a call (spec 08 "Reserve before each call"): the most that it can use. Where that is not known, `isCapped` is false
 * and `amount` what it is likely to use: of such calls one is under way at a time. `now` is epoch milliseconds, of work that time may
 * be a limit of.
 */
export const holdCall = (ledger: LedgerState, amount: Amount, now = anyTime, isCapped = true): Held => {
  const late = timeRefusal(ledger, now);
  if (late !== null) return { faults: [late], mayWait: false };
  const call = numberOfNext(ledger);
  const request = { accountId, number: call, amount: countable(amount), isCapped, isCheapest: true };
  const result = reserveCall(ledger, { ...request, holder: accountId, expiresAt: most }, now);
  if (result.outcome === 'refused') {
    // What the account itself has is said of the budget; what the call needs, of the call.
    const faults = result.faults.map(({ message }) => message.replace(/^has /, 'the budget has '));
    return { faults, mayWait: result.remedy === 'wait' };
  }
  return { ledger: result.ledger, call };
};

/** The limits of the work, as it was given them. */
export const limitsOf = (ledger: LedgerState): BudgetLimits => accountOf(ledger).limits;

/** Every limit that `amount` does not fit; what reaches one exactly fits. */
export const faultsOf = (ledger: LedgerState, amount: Amount): Fault[] =>
  budgetFaults(booksOf(accountOf(ledger)), amount);

/** A call that streams has used so much by now: beyond what it holds it holds that. */
export const useSoFar = (ledger: LedgerState, call: number, used: Amount): LedgerState =>
  reportUse(ledger, { accountId, number: call }, countable(used)).ledger;

/** What a call under way holds; nothing, where it has ended. */
export const heldBy = (ledger: LedgerState, call: number): Amount =>
  findCall(ledger, { accountId, number: call })?.amount ?? noAmount;

/** A call under way holds so much more. */
export const holdMore = (ledger: LedgerState, call: number, more: Amount): LedgerState =>
  useSoFar(ledger, call, add(heldBy(ledger, call), more));

/** Spends what was used by no call that holds anything. */
export const pay = (ledger: LedgerState, used: Amount): LedgerState =>
  isNothing(used)
    ? ledger
    : settleCall(ledger, { accountId, number: numberOfNext(ledger) }, countable(used), anyTime).ledger;

/** A call has ended with what it used; one that holds nothing any more (or null: never did) has used it all the same. */
export const endCall = (ledger: LedgerState, call: number | null, used: Amount): LedgerState => {
  const id = call === null ? null : { accountId, number: call };
  return id && findCall(ledger, id) ? settleCall(ledger, id, countable(used), anyTime).ledger : pay(ledger, used);
};

/** Milliseconds that are left at `now`; null: time is no limit. A call that begins takes them as its own time limit. */
export const timeLeftOf = (ledger: LedgerState, now: number): number | null => timeLeftMs(accountOf(ledger), now);

export const isTimeOver = (ledger: LedgerState, now: number): boolean => timeLeftOf(ledger, now) === 0;

/** When the time is over, epoch milliseconds; null: time is no limit, or a person is waited for. It may be past. */
export const timeEndOf = (ledger: LedgerState): number | null => endOf(accountOf(ledger));

/**
 * Holds the clock while a person is waited for, and lets it go on then (spec 08 "never counts against a time budget"). Where
 * time is no limit, or it is so already, the ledger stays as it is.
 */
export const withClock = (ledger: LedgerState, isPersonAwaited: boolean, now: number): LedgerState => {
  const { limits, heldSince } = accountOf(ledger);
  if (limits.maxMs === null || isPersonAwaited === (heldSince !== null)) return ledger;
  return isPersonAwaited ? holdClock(ledger, accountId, holder, now) : resumeClock(ledger, accountId, holder, now);
};

/** Milliseconds for which the clock stood that goes on between two states of a ledger; 0: it does not begin to. */
export const heldFor = (before: LedgerState, after: LedgerState): number =>
  accountOf(after).heldMs - accountOf(before).heldMs;

/** Takes `ms` that have passed off the clock again: work that this work started has waited for persons so long. */
export const withoutTime = (ledger: LedgerState, ms: number, now: number): LedgerState =>
  ms <= 0 ? ledger : withClock(withClock(ledger, true, now - ms), false, now);

export const inSeconds = (ms: number): string => `${ms / 1000} ${ms === 1000 ? 'second' : 'seconds'}`;

/** Why nothing more begins once the time is over, in words; null: it is not. */
export const timeRefusal = (ledger: LedgerState, now: number): string | null => {
  const { maxMs } = accountOf(ledger).limits;
  return maxMs !== null && isTimeOver(ledger, now) ? `the budget's time of ${inSeconds(maxMs)} is used up` : null;
};

/** `time` of a status. @param asOf when the work last took an event, or ended; undefined: time is no limit */
export const timeUsed = (ledger: LedgerState, asOf: number, isOver: boolean): TimeUsed | undefined =>
  timeUsedOf(accountOf(ledger), asOf, isOver);
