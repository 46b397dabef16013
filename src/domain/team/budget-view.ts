import type { TimeUsed } from '../../contracts/work.js';
import type { BudgetStatus, TeamStatus } from '../../contracts/team-status.js';
import { usd } from '../budget.js';
import { iso } from '../instant.js';
import { elapsedMs, timeLeftMs } from '../ledger/clock.js';
import { type Account, findAccount } from '../ledger/state.js';
import { limitsOnWire } from './budget-asks.js';
import { openRequest } from './permissions.js';
import type { TeamState } from './state.js';

const states = { no: 'open', open: 'asking', stopped: 'stopped' } as const;

/** Where a limit of time stands; undefined: there is none. */
const timeOf = (account: Account, { steppedAt }: Pick<TeamState, 'steppedAt'>): TimeUsed | undefined => {
  const { limits, openedAt, heldMs, heldSince } = account;
  if (limits.maxMs === null) return undefined;
  return {
    max_ms: limits.maxMs,
    elapsed_ms: elapsedMs(account, steppedAt),
    left_ms: timeLeftMs(account, steppedAt) ?? 0,
    as_of: iso(steppedAt),
    ends_at: heldSince === null ? iso(openedAt + heldMs + limits.maxMs) : null,
  };
};

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
  const time = timeOf(account, { steppedAt });
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
