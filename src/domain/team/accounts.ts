import type { BudgetLimits } from '../budget.js';
import { openAccount } from '../ledger/accounts.js';
import { type AccountTerms, emptyLedger, type LedgerState } from '../ledger/state.js';
import type { PricedCall } from '../priced-call.js';

/** What calls of an agent's model may use. */
export interface CallPrice {
  /** As a rule. */
  likely: PricedCall;
  /** At most, where `isCapped`: the provider ends the call there. */
  most: PricedCall;
  isCapped: boolean;
}

/** Percent of a limit from which it is told. */
const warnPercent = 80;

export const teamAccount = 'team';
export const noLimits: BudgetLimits = { maxTokens: null, maxUsdMicros: null };

/** A call that does not fit what is left is admitted while something is, one at a time: at most one call passes the limit. */
export const terms = (limits: BudgetLimits): AccountTerms => ({
  limits: { ...limits, maxMs: null },
  warnPercent,
  cheaperPercent: null,
  asks: false,
  lastCall: 'admitted',
});

/** The ledger of a team at its start; `now`: epoch milliseconds. */
export const openTeamLedger = (limits: BudgetLimits, now: number): LedgerState =>
  openAccount(emptyLedger, { accountId: teamAccount, level: 'run', parentId: null, terms: terms(limits) }, now);
