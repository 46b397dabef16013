import type { LedgerAccount } from '../../contracts/ledger.js';
import type { Spend } from '../../contracts/work.js';
import { usd } from '../budget.js';
import type { Amount } from '../session/setup.js';
import { elapsedMs } from './clock.js';
import type { Account, LedgerState } from './state.js';

const spend = (amount: Amount): Spend => ({ tokens: amount.tokens, usd: usd(amount.usdMicros) });

const states: Readonly<Record<Account['asked'], LedgerAccount['state']>> = {
  no: 'open',
  open: 'asking',
  stopped: 'stopped',
};

/** Every open account on the wire, in the order of their opening: those above stand before those below. */
export const ledgerView = ({ accounts, calls }: LedgerState, now: number): LedgerAccount[] =>
  accounts.map((account) => ({
    account_id: account.accountId,
    level: account.level,
    parent: account.parentId,
    limits: {
      max_tokens: account.limits.maxTokens,
      max_usd: account.limits.maxUsdMicros === null ? null : usd(account.limits.maxUsdMicros),
      max_ms: account.limits.maxMs,
    },
    spent: spend(account.spent),
    reserved: spend(account.reserved),
    elapsed_ms: elapsedMs(account, now),
    steps: account.told,
    state: states[account.asked],
    open_calls: calls.filter(({ accountId }) => accountId === account.accountId).length,
  }));
