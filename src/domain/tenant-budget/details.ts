import type { TenantBudget } from '../../contracts/tenant-budget.js';

/** A tenant's budget for people, as Markdown. */
export const tenantBudgetDetails = ({
  tenant,
  per,
  since,
  limits,
  spent,
  held,
  state,
  steps,
  calls,
}: TenantBudget): string => {
  const of = (limit: string | number | null): string => (limit === null ? 'no limit' : `${limit}`);
  const period = per === null ? '' : ` in the ${per} from ${since ?? ''}`;
  return [
    `**${tenant}**: ${state}${period}, ${calls.under_way} calls under way, ${calls.waiting} waiting`,
    '',
    '| | limit | spent | held |',
    '| --- | --- | --- | --- |',
    `| USD | ${of(limits.max_usd)} | ${spent.usd} | ${held.usd} |`,
    `| tokens | ${of(limits.max_tokens)} | ${spent.tokens} | ${held.tokens} |`,
    ...(steps.length === 0 ? [] : ['']),
    ...steps.map(({ step, at, message }) => `- ${at} ${step.replace('_', ' ')}: ${message}`),
  ].join('\n');
};
