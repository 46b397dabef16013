import type { Account, LedgerState } from './state.js';
import { changeAccounts, pathOf } from './state.js';

/** How long the account has been open, without what its clock was held. `now` is epoch milliseconds. */
export const elapsedMs = ({ openedAt, heldMs, heldSince }: Account, now: number): number =>
  Math.max(0, (heldSince ?? now) - openedAt - heldMs);

/** null: no limit. */
export const timeLeftMs = (account: Account, now: number): number | null =>
  account.limits.maxMs === null ? null : Math.max(0, account.limits.maxMs - elapsedMs(account, now));

/** When the time is over, epoch milliseconds; null: there is no limit, or the clock is held. It may be past. */
export const timeEndOf = ({ limits, openedAt, heldMs, heldSince }: Account): number | null =>
  limits.maxMs === null || heldSince !== null ? null : openedAt + heldMs + limits.maxMs;

/** What is left to a call of the account: the least of it and all above it; null: no limit. @throws ParleyError not_found */
export const leastTimeLeftMs = (ledger: LedgerState, accountId: string, now: number): number | null =>
  pathOf(ledger, accountId)
    .map((account) => timeLeftMs(account, now))
    .reduce((a, b) => (a === null ? b : b === null ? a : Math.min(a, b)), null);

const belowAndItself = (ledger: LedgerState, accountId: string): Account[] =>
  ledger.accounts.filter((account) => pathOf(ledger, account.accountId).some((above) => above.accountId === accountId));

const held = (account: Account, holdId: string, now: number): Account =>
  account.holds.includes(holdId)
    ? account
    : { ...account, holds: [...account.holds, holdId], heldSince: account.heldSince ?? now };

const resumed = (account: Account, holdId: string, now: number): Account => {
  if (!account.holds.includes(holdId)) return account;
  const holds = account.holds.filter((id) => id !== holdId);
  if (holds.length > 0) return { ...account, holds };
  const heldMs = account.heldMs + Math.max(0, now - (account.heldSince ?? now));
  return { ...account, holds, heldMs, heldSince: null };
};

/**
 * Stops the clock of an account and of all below it, for a person who is waited for (spec 08 "never counts against a time
 * budget"). The same `holdId` counts once. @throws ParleyError not_found
 */
export const holdClock = (ledger: LedgerState, accountId: string, holdId: string, now: number): LedgerState => {
  pathOf(ledger, accountId);
  return changeAccounts(ledger, belowAndItself(ledger, accountId), (account) => held(account, holdId, now));
};

/** Lets the clocks go on that `holdId` held, unless another holds them still. @throws ParleyError not_found */
export const resumeClock = (ledger: LedgerState, accountId: string, holdId: string, now: number): LedgerState => {
  pathOf(ledger, accountId);
  return changeAccounts(ledger, belowAndItself(ledger, accountId), (account) => resumed(account, holdId, now));
};

/**
 * The clocks of the accounts in `running` go on and all others stand still, as far as it is up to `holdId`: for whoever knows of each
 * account whether anything in it is at work.
 */
export const keepClocks = (
  ledger: LedgerState,
  running: ReadonlySet<string>,
  holdId: string,
  now: number,
): LedgerState => ({
  ...ledger,
  accounts: ledger.accounts.map((account) =>
    running.has(account.accountId) ? resumed(account, holdId, now) : held(account, holdId, now),
  ),
});
