import type { TenantBudget } from '../../contracts/tenant-budget.js';
import type { Spend } from '../../contracts/work.js';
import { available, type BudgetLimits, noAmount, usd } from '../budget.js';
import { booksOf, findAccount } from '../ledger/state.js';
import type { Amount } from '../session/setup.js';
import type { BudgetFigures } from './messages.js';
import type { TenantBudgetSettings } from './settings.js';
import { type EndedPeriod, newTenantBudget, type TenantBudgetState } from './state.js';

const spend = ({ tokens, usdMicros }: Amount): Spend => ({ tokens, usd: usd(usdMicros) });
const instant = (at: number): string => new Date(at).toISOString();
const orNull = (micros: number | null): string | null => (micros === null ? null : usd(micros));
const states = { no: 'open', open: 'asking', stopped: 'stopped' } as const;

/** The account of the tenant itself; there always is one. */
const accountOf = ({ books, settings }: TenantBudgetState) => {
  const account = findAccount(books.ledger, settings.tenant);
  const { maxTokens, maxUsdMicros } = account?.limits ?? settings.limits;
  const limits: BudgetLimits = { maxTokens, maxUsdMicros };
  return { account, limits, spent: account?.spent ?? noAmount, reserved: account?.reserved ?? noAmount };
};

const lastPeriod = ({ earlier, before, settings }: TenantBudgetState): EndedPeriod | null => {
  const last = earlier.at(-1);
  const spent = last && findAccount(last.ledger, settings.tenant)?.spent;
  return last && spent && last.endsAt !== null ? { startsAt: last.startsAt, endsAt: last.endsAt, spent } : before;
};

/** A tenant's budget on the wire. */
export const tenantBudgetView = (state: TenantBudgetState): TenantBudget => {
  const { settings, books, earlier, queue, notices } = state;
  const { account, limits, spent, reserved } = accountOf(state);
  const left = account ? available(booksOf(account)) : { tokens: limits.maxTokens, usdMicros: limits.maxUsdMicros };
  const last = lastPeriod(state);
  return {
    tenant: settings.tenant,
    per: settings.period === 'ever' ? null : settings.period,
    since: instant(books.startsAt),
    until: books.endsAt === null ? null : instant(books.endsAt),
    limits: { max_tokens: limits.maxTokens, max_usd: orNull(limits.maxUsdMicros) },
    spent: spend(spent),
    held: spend(reserved),
    left: { tokens: left.tokens, usd: orNull(left.usdMicros) },
    state: states[account?.asked ?? 'no'],
    steps: notices.map(({ step, at, message }) => ({ step, at: instant(at), message })),
    calls: {
      under_way: [books, ...earlier].reduce((sum, { ledger }) => sum + ledger.calls.length, 0),
      waiting: queue.length,
    },
    before: last && { since: instant(last.startsAt), until: instant(last.endsAt), spent: spend(last.spent) },
  };
};

/** Of a budget that nothing was asked of yet. */
export const untouchedBudget = (settings: TenantBudgetSettings, now: number): TenantBudget => {
  const view = tenantBudgetView(newTenantBudget(settings, now));
  return settings.period === 'ever' ? { ...view, since: null } : view;
};

export const figuresOf = (state: TenantBudgetState): BudgetFigures => {
  const { spent, limits } = accountOf(state);
  return { spent, limits };
};

/** Whether another one could take its place that knows nothing: nothing was spent, is held, waits, or was said by a person. */
export const isForgettable = (state: TenantBudgetState): boolean => {
  const { account, spent, reserved, limits } = accountOf(state);
  const { maxTokens, maxUsdMicros } = state.settings.limits;
  return (
    [spent, reserved].every(({ tokens, usdMicros }) => tokens === 0 && usdMicros === 0) &&
    state.books.ledger.calls.length + state.earlier.length + state.queue.length === 0 &&
    account?.asked === 'no' &&
    limits.maxTokens === maxTokens &&
    limits.maxUsdMicros === maxUsdMicros
  );
};
