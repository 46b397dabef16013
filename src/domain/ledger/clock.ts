import type { Account, LedgerState } from './state.js';
import { changeAccounts, pathOf } from './state.js';

/** How long the account has been open, without what its clock was held. `now` is epoch milliseconds. */
export const elapsedMs = ({ openedAt, heldMs, heldSince }: Account, now: number): number =>
  Math.max(0, (heldSince ?? now) - openedAt - heldMs);

/** null: no limit. */
export const timeLeftMs = (account: Account, now: number): number | null =>
  account.limits.maxMs === null ? null : Math.max(0, account.limits.maxMs - elapsedMs(account, now));

const belowAndItself = (ledger: LedgerState, accountId: string): Account[] =>
  ledger.accounts.filter((account) => pathOf(ledger, account.accountId).some((above) => above.accountId === accountId));

/**
 * Stops the clock of an account and of all below it, for a person who is waited for (spec 08 "never counts against a time
 * budget"). The same `holdId` counts once. @throws ParleyError not_found
 */
export const holdClock = (ledger: LedgerState, accountId: string, holdId: string, now: number): LedgerState => {
  pathOf(ledger, accountId);
  return changeAccounts(ledger, belowAndItself(ledger, accountId), (account) =>
    account.holds.includes(holdId)
      ? account
      : { ...account, holds: [...account.holds, holdId], heldSince: account.heldSince ?? now },
  );
};

/** Lets the clocks go on that `holdId` held, unless another holds them still. @throws ParleyError not_found */
export const resumeClock = (ledger: LedgerState, accountId: string, holdId: string, now: number): LedgerState => {
  pathOf(ledger, accountId);
  return changeAccounts(ledger, belowAndItself(ledger, accountId), (account) => {
    if (!account.holds.includes(holdId)) return account;
    const holds = account.holds.filter((id) => id !== holdId);
    if (holds.length > 0) return { ...account, holds };
    const heldMs = account.heldMs + Math.max(0, now - (account.heldSince ?? now));
    return { ...account, holds, heldMs, heldSince: null };
  });
};
