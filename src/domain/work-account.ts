import { add, type AmountLeft, available, budgetFaults, type BudgetLimits, noAmount } from './budget.js';
import { openAccount } from './ledger/accounts.js';
import { reserveCall } from './ledger/reserve.js';
import { reportUse, settleCall } from './ledger/settle.js';
import { type Account, type AccountTerms, booksOf, emptyLedger, findCall, type LedgerState } from './ledger/state.js';
import type { Amount } from './session/setup.js';
import type { Fault } from './window.js';

/**
 * The budget of a piece of work, as the one account of a ledger that the work carries (decision 29): it tells no steps, knows no
 * time, and admits no call beyond what is left. Calls have the numbers in which they were admitted.
 */
const accountId = 'work';

/** Without a limit of time nothing depends on the clock. */
const anyTime = 0;
const most = Number.MAX_SAFE_INTEGER;

const terms = ({ maxTokens, maxUsdMicros }: BudgetLimits): AccountTerms => ({
  limits: { maxTokens, maxUsdMicros, maxMs: null },
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
export const openWorkAccount = (limits: BudgetLimits, openedAt: number, spent: Amount = noAmount): LedgerState => {
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

/** Holds `amount` for a call (spec 08 "Reserve before each call"). @returns its number, or every limit that it does not fit */
export const holdCall = (
  ledger: LedgerState,
  amount: Amount,
): { ledger: LedgerState; call: number } | { faults: string[] } => {
  const call = numberOfNext(ledger);
  const request = { accountId, number: call, amount: countable(amount), isCapped: true, isCheapest: true };
  const result = reserveCall(ledger, { ...request, holder: accountId, expiresAt: most }, anyTime);
  if (result.outcome === 'refused') return { faults: result.faults.map(({ message }) => message) };
  return { ledger: result.ledger, call };
};

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
