import { z } from 'zod';
import { budgetSteps } from '../domain/ledger/state.js';
import { shareSchema, spendSchema, tenantSchema } from './work.js';

const maxUsd = z.number().min(0).max(1_000_000_000);
const maxTokens = z.number().int().min(0).max(1_000_000_000_000_000);
const model = z.string().min(1).max(200);

/** What the operator lets a tenant use, by all its work together (spec 08 "Budget ledger"). */
export const tenantBudgetLimitsSchema = z
  .strictObject({
    max_usd: maxUsd.optional(),
    max_tokens: maxTokens.optional(),
    per: z.enum(['day', 'month']).optional().meta({ description: 'Of UTC; left out: for ever.' }),
    warn_at: shareSchema.default(0.8).meta({ description: 'Share of a limit from which it is told.' }),
    cheaper_at: shareSchema.optional().meta({ description: 'Share of a limit from which cheaper models are asked.' }),
    cheaper_models: z.record(model, model).optional().meta({ description: 'Which model is asked in place of which.' }),
    when_used_up: z
      .enum(['stop', 'ask'])
      .default('stop')
      .meta({ description: 'Whether calls are refused, or wait until a person gives the budget more.' }),
    lease_ms: z
      .number()
      .int()
      .min(3_000)
      .max(3_600_000)
      .default(120_000)
      .meta({ description: 'For how long what a worker holds stands without a word of it; then it counts as spent.' }),
  })
  .superRefine((budget, context) => {
    const fault = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (budget.max_usd === undefined && budget.max_tokens === undefined)
      fault('max_usd', 'must be given, or max_tokens: a budget limits at least one of them');
    const models = Object.keys(budget.cheaper_models ?? {}).length;
    if (budget.cheaper_at !== undefined && models === 0)
      fault('cheaper_models', 'must name a model for cheaper_at, such as {"gpt-5":"gpt-5-mini"}');
    if (budget.cheaper_at === undefined && budget.cheaper_models !== undefined)
      fault('cheaper_at', 'must be given for cheaper_models, such as 0.9');
  })
  .meta({ id: 'TenantBudgetLimits' });
export type TenantBudgetLimits = z.infer<typeof tenantBudgetLimitsSchema>;

const instant = z.iso.datetime();

/** How a tenant's budget stands. */
export const tenantBudgetSchema = z
  .strictObject({
    tenant: tenantSchema,
    per: z.enum(['day', 'month']).nullable().meta({ description: 'Of UTC; null: for ever.' }),
    since: instant
      .nullable()
      .meta({ description: 'Beginning of the running period; null: nothing was asked of it yet.' }),
    until: instant.nullable().meta({ description: 'Its end; null: it has none.' }),
    limits: z
      .strictObject({
        max_tokens: z.number().int().min(0).nullable(),
        max_usd: z.string().nullable().meta({ description: 'US dollars, decimal.' }),
      })
      .meta({ description: 'Of the running period, as a person may have changed them; null: no limit.' }),
    spent: spendSchema,
    held: spendSchema.meta({ description: 'For calls that are under way.' }),
    left: z
      .strictObject({ tokens: z.number().int().min(0).nullable(), usd: z.string().nullable() })
      .meta({ description: 'Of each limit: neither spent nor held.' }),
    state: z.enum(['open', 'asking', 'stopped']).meta({
      description: 'asking: calls wait until a person gives it more or stops it; stopped: a person has done so.',
    }),
    steps: z
      .array(z.strictObject({ step: z.enum(budgetSteps), at: instant, message: z.string() }))
      .meta({ description: 'What was told of the running period, oldest first.' }),
    calls: z.strictObject({ under_way: z.number().int().min(0), waiting: z.number().int().min(0) }),
    before: z
      .strictObject({ since: instant, until: instant, spent: spendSchema })
      .nullable()
      .meta({ description: 'The period before; null: it is not known.' }),
  })
  .meta({ id: 'TenantBudget' });
export type TenantBudget = z.infer<typeof tenantBudgetSchema>;

export const tenantBudgetListSchema = z
  .strictObject({ items: z.array(tenantBudgetSchema) })
  .meta({ id: 'TenantBudgetList' });
export type TenantBudgetList = z.infer<typeof tenantBudgetListSchema>;

/** What a person says of a tenant's budget. */
export const answerTenantBudgetSchema = z
  .strictObject({
    max_usd: maxUsd.optional().meta({ description: 'The limit of the running period from now on.' }),
    max_tokens: maxTokens.optional().meta({ description: 'The limit of the running period from now on.' }),
    stop: z.literal(true).optional().meta({ description: 'Nothing more is spent in the running period.' }),
  })
  .superRefine((answer, context) => {
    const isLimited = answer.max_usd !== undefined || answer.max_tokens !== undefined;
    if (isLimited !== (answer.stop === true)) return;
    const message = isLimited
      ? 'must be left out where limits are given: it either goes on or stops'
      : 'must be true, or give max_usd or max_tokens';
    context.addIssue({ code: 'custom', path: ['stop'], message });
  })
  .meta({ id: 'AnswerTenantBudget' });
export type AnswerTenantBudget = z.infer<typeof answerTenantBudgetSchema>;
