import { Gauge, type Registry } from 'prom-client';
import type { BudgetFigures } from '../../src/domain/tenant-budget/messages.js';

/** Prometheus metrics of the budgets of tenants, as one worker has heard of them last. */
export const createBudgetMetrics = (
  registry: Registry,
  /** Whether the operator names the tenant: of others there may be any number. */
  isNamed: (tenant: string) => boolean,
) => {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['tenant'] as const, registers: [registry] });
  const heard = 'as this worker has heard last; of tenants that PARLEY_TENANT_BUDGETS names.';
  const spentUsd = gauge('parley_tenant_budget_spent_usd', `US dollars of the running period, ${heard}`);
  const limitUsd = gauge('parley_tenant_budget_limit_usd', `Limit of US dollars in force, ${heard}`);
  const spentTokens = gauge('parley_tenant_budget_spent_tokens', `Tokens of the running period, ${heard}`);
  const limitTokens = gauge('parley_tenant_budget_limit_tokens', `Limit of tokens in force, ${heard}`);
  return {
    stands: (tenant: string, { spent, limits }: BudgetFigures): void => {
      if (!isNamed(tenant)) return;
      spentUsd.set({ tenant }, spent.usdMicros / 1e6);
      spentTokens.set({ tenant }, spent.tokens);
      if (limits.maxUsdMicros !== null) limitUsd.set({ tenant }, limits.maxUsdMicros / 1e6);
      if (limits.maxTokens !== null) limitTokens.set({ tenant }, limits.maxTokens);
    },
  };
};
export type BudgetMetrics = ReturnType<typeof createBudgetMetrics>;
