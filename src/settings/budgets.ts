import { z } from 'zod';
import { tenantBudgetLimitsSchema, type TenantBudgetLimits } from '../contracts/tenant-budget.js';
import { tenantSchema } from '../contracts/work.js';
import { micros } from '../domain/budget.js';
import type { TenantBudgetSettings } from '../domain/tenant-budget/settings.js';
import { jsonOrFile } from './json.js';

const example = '{"acme":{"max_usd":50,"per":"month"},"*":{"max_tokens":1000000,"per":"day","when_used_up":"ask"}}';

/** Limits by tenant; "*": of each that is not named, for itself. */
export type BudgetSettings = Record<string, TenantBudgetLimits>;

/** PARLEY_TENANT_BUDGETS: JSON, or the path of a file that holds it. */
export const budgetSettingsSchema = jsonOrFile(
  z.record(z.string(), tenantBudgetLimitsSchema).superRefine(
    (budgets, context) => {
      for (const tenant of Object.keys(budgets)) {
        if (tenant === '*' || tenantSchema.safeParse(tenant).success) continue;
        context.addIssue({ code: 'custom', path: [tenant], message: 'must be the name of a tenant, or "*"' });
      }
    },
    // Whatever is wrong with single budgets, so that all is told at once.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  ),
  example,
);

/** What holds for a tenant; null: nothing does. */
export const budgetLimitsOf = (settings: BudgetSettings, tenant: string): TenantBudgetLimits | null =>
  (Object.hasOwn(settings, tenant) ? settings[tenant] : settings['*']) ?? null;

/** The same as the tenant's budget keeps it; null: it has none. */
export const tenantBudgetSettings = (settings: BudgetSettings, tenant: string): TenantBudgetSettings | null => {
  const limits = budgetLimitsOf(settings, tenant);
  if (limits === null) return null;
  const { max_usd: maxUsd, max_tokens: maxTokens, per, warn_at: warnAt, cheaper_at: cheaperAt } = limits;
  return {
    tenant,
    limits: { maxTokens: maxTokens ?? null, maxUsdMicros: maxUsd === undefined ? null : micros(maxUsd) },
    period: per ?? 'ever',
    warnPercent: Math.round(warnAt * 100),
    cheaperPercent: cheaperAt === undefined ? null : Math.round(cheaperAt * 100),
    asks: limits.when_used_up === 'ask',
    leaseMs: limits.lease_ms,
  };
};
