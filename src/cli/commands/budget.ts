import type { AnswerTenantBudget, TenantBudget, TenantBudgetList } from '../../contracts/tenant-budget.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';

export interface BudgetOptions {
  maxUsd?: number;
  maxTokens?: number;
  stop?: boolean;
}

const period = ({ per, until }: TenantBudget): string =>
  per === null ? 'for ever' : `this ${per}${until === null ? '' : `, until ${until.slice(0, 10)}`}`;

const uses = ({ limits, spent, held }: TenantBudget): string[] => [
  ...(limits.max_usd === null ? [] : [`${spent.usd} of ${limits.max_usd} USD spent, ${held.usd} held`]),
  ...(limits.max_tokens === null ? [] : [`${spent.tokens} of ${limits.max_tokens} tokens spent, ${held.tokens} held`]),
];

const line = (budget: TenantBudget): string =>
  [budget.tenant.padEnd(18), budget.state.padEnd(7), period(budget).padEnd(28), uses(budget).join('; ')].join('  ');

const whole = (budget: TenantBudget): string[] => [
  `${budget.tenant}  ${budget.state}, ${period(budget)}`,
  ...uses(budget).map((use) => `  ${use}`),
  `  ${budget.calls.under_way} calls under way, ${budget.calls.waiting} waiting`,
  ...budget.steps.map(({ step, at, message }) => `  ${at.slice(0, 19).replace('T', ' ')}  ${step}: ${message}`),
  ...(budget.before === null
    ? []
    : [
        `  before, until ${budget.before.until.slice(0, 10)}: ${budget.before.spent.usd} USD, ${budget.before.spent.tokens} tokens`,
      ]),
  ...(budget.state === 'open'
    ? []
    : [
        `  Give it more: parley budget ${budget.tenant} --max-usd or --max-tokens${budget.state === 'asking' ? ', or --stop' : ''}`,
      ]),
];

/** `parley budget`: every tenant's budget, a line each. */
export const listBudgets = async (context: CommandContext): Promise<number> => {
  const { items } = (await (await context.client.open('/v1/budgets')).json()) as TenantBudgetList;
  if (context.json) context.out(JSON.stringify({ items }, null, 2));
  else if (items.length === 0) context.out('There are none. PARLEY_TENANT_BUDGETS names what tenants may use.');
  else for (const item of items) context.out(line(item));
  return exitCodes.ok;
};

/** `parley budget TENANT`: what is spent of it; with limits, or to stop it, a person's word. */
export const tenantBudget = async (
  tenant: string,
  { maxUsd, maxTokens, stop }: BudgetOptions,
  context: CommandContext,
): Promise<number> => {
  const answer: AnswerTenantBudget = {
    ...(maxUsd !== undefined && { max_usd: maxUsd }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(stop && { stop: true }),
  };
  const path = `/v1/budgets/${encodeURIComponent(tenant)}`;
  const isAnswer = Object.keys(answer).length > 0;
  const response = await context.client.open(
    path,
    isAnswer
      ? { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(answer) }
      : undefined,
  );
  const budget = (await response.json()) as TenantBudget;
  context.out(context.json ? JSON.stringify(budget, null, 2) : whole(budget).join('\n'));
  return exitCodes.ok;
};
