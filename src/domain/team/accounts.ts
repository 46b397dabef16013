import type { BudgetLimits } from '../budget.js';
import { openAccount } from '../ledger/accounts.js';
import { holdClock } from '../ledger/clock.js';
import { type AccountTerms, emptyLedger, type LedgerState } from '../ledger/state.js';
import type { PricedCall } from '../priced-call.js';

/** What calls of an agent's model may use. */
export interface CallPrice {
  /** As a rule. */
  likely: PricedCall;
  /** At most, where `isCapped`: the provider ends the call there. */
  most: PricedCall;
  isCapped: boolean;
  /** Characters that a token of a prompt has at the least; left out: 1, a byte. */
  leastCharacters?: number;
}

/** Another model than an agent's own, and what calls of it may use. */
export interface CheaperModel {
  model: string;
  price: CallPrice;
}

/** Limits of a team, or of an agent with those that it spawns, and what happens as they come near (spec 08 "steps"). */
export interface TeamBudget extends BudgetLimits {
  /** Milliseconds in which somebody was at work; left out: no limit. */
  maxMs?: number;
  /** Whole percent of a limit from which it is told; left out: 80. */
  warnPercent?: number;
  /** Whole percent of a limit from which agents are asked with the cheaper model that they have; left out: never. */
  cheaperPercent?: number;
  /** A model's name, as their adapters have it. */
  cheaperModel?: string;
  /** Whether a person is asked for more, before calls are refused. */
  asks?: boolean;
}

/** Percent of a limit from which it is told where nobody says. */
const presetWarnPercent = 80;

export const teamAccount = 'team';
export const noLimits: BudgetLimits = { maxTokens: null, maxUsdMicros: null };

/**
 * A call that does not fit what is left is admitted while something is, one at a time: at most one call passes the limit. Where a person
 * is asked, he is asked before that.
 */
export const terms = (budget: TeamBudget): AccountTerms => ({
  limits: { maxTokens: budget.maxTokens, maxUsdMicros: budget.maxUsdMicros, maxMs: budget.maxMs ?? null },
  warnPercent: budget.warnPercent ?? presetWarnPercent,
  cheaperPercent: budget.cheaperPercent ?? null,
  asks: budget.asks ?? false,
  lastCall: budget.asks ? 'refused' : 'admitted',
});

/** Who holds clocks of accounts in which nobody is at work. */
export const nobodyAtWork = 'nobody at work';

/** The ledger of a team at its start, when nobody is at work; `now`: epoch milliseconds. */
export const openTeamLedger = (budget: TeamBudget, now: number): LedgerState => {
  const opening = { accountId: teamAccount, level: 'run' as const, parentId: null, terms: terms(budget) };
  const ledger = openAccount(emptyLedger, opening, now);
  return budget.maxMs === undefined ? ledger : holdClock(ledger, teamAccount, nobodyAtWork, now);
};
