import type { BudgetStatus, TeamStatus } from '../../contracts/team-status.js';
import { usd } from '../budget.js';
import { findAccount } from '../ledger/state.js';
import { timeUsedOf } from '../ledger/time-used.js';
import { limitsOnWire } from './budget-asks.js';
import { openRequest } from './permissions.js';
import type { TeamState } from './state.js';

const states = { no: 'open', open: 'asking', stopped: 'stopped' } as const;

/** A budget as the wire has it; undefined: there is no such account, or it has no limits. */
export const budgetStatus = (
  { ledger, steppedAt }: Pick<TeamState, 'ledger' | 'steppedAt'>,
  accountId: string,
  cheaperModel: string | undefined,
): BudgetStatus | undefined => {
  const account = findAccount(ledger, accountId);
  if (!account) return undefined;
  const { limits, terms, spent, reserved, told, asked } = account;
  if (limits.maxTokens === null && limits.maxUsdMicros === null && limits.maxMs === null) return undefined;
  // Once a team is over nobody is at work, and all clocks are held.
  const time = timeUsedOf(account, steppedAt, false);
  return {
    ...limitsOnWire(limits),
    warn_at: (terms.warnPercent ?? 100) / 100,
    cheaper_at: terms.cheaperPercent === null ? null : terms.cheaperPercent / 100,
    cheaper_model: cheaperModel ?? null,
    when_used_up: terms.asks ? 'ask' : 'stop',
    spent: { tokens: spent.tokens, usd: usd(spent.usdMicros) },
    reserved: { tokens: reserved.tokens, usd: usd(reserved.usdMicros) },
    ...(time && { time }),
    steps: told,
    state: states[asked],
  };
};

/** The budget that people are asked about now. */
export const askedBudget = (team: TeamState): NonNullable<TeamStatus['asked_budget']> | null => {
  const open = openRequest(team);
  const [ask] = team.asks;
  if (!open || !ask || !('accountId' in ask) || !ask.asked) return null;
  return { ...ask.asked, request_id: open.request.request_id };
};
