import { ParleyError } from '../../src/domain/errors.js';
import { budgetLimitsOf, type BudgetSettings, tenantBudgetSettings } from '../../src/settings/budgets.js';
import { Lines } from '../owner/lines.js';
import { BudgetLine } from './budget-line.js';
import type { BudgetLink } from './link.js';
import type { BudgetMetrics } from './metrics.js';
import type { TenantBudgets } from './port.js';

export interface BudgetsOptions {
  budgets: BudgetSettings;
  link: BudgetLink;
  metrics: BudgetMetrics;
  /** Names the worker to people. */
  name: string;
  onError: (error: unknown, what: string) => void;
}

/** One worker's side of the budgets of all tenants. Calls for a tenant that has none ask nothing of Temporal. */
export const createTenantBudgets = ({ budgets, link, metrics, name, onError }: BudgetsOptions): TenantBudgets => {
  const lines = new Lines(name, (tenant, of) => {
    const settings = tenantBudgetSettings(budgets, tenant);
    if (settings === null) throw new ParleyError('not_found', `tenant ${tenant} has no budget`);
    return new BudgetLine({ ...of, settings, link, metrics, onError });
  });
  return {
    rulesOf: (tenant) => {
      const limits = budgetLimitsOf(budgets, tenant);
      return limits && { limitsTokens: limits.max_tokens !== undefined, cheaperModels: limits.cheaper_models ?? {} };
    },
    reserve: (call, signal, comesAgain) => lines.to(call.tenant).reserve(call, signal, comesAgain),
    close: lines.close,
  };
};
