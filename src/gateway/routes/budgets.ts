import { z } from 'zod';
import {
  answerTenantBudgetSchema,
  type TenantBudget,
  tenantBudgetListSchema,
  tenantBudgetSchema,
} from '../../contracts/tenant-budget.js';
import { tenantSchema } from '../../contracts/work.js';
import { type AnyRoute, route } from '../route.js';

const example: TenantBudget = {
  tenant: 'acme',
  per: 'month',
  since: '2026-11-01T00:00:00.000Z',
  until: '2026-12-01T00:00:00.000Z',
  limits: { max_tokens: null, max_usd: '50' },
  spent: { tokens: 2_140_300, usd: '41.2' },
  held: { tokens: 9_120, usd: '0.18' },
  left: { tokens: null, usd: '8.62' },
  state: 'open',
  steps: [{ step: 'warn', at: '2026-11-20T10:00:02.000Z', message: 'tenant acme has used 40.01 of 50 USD' }],
  calls: { under_way: 3, waiting: 0 },
  before: {
    since: '2026-10-01T00:00:00.000Z',
    until: '2026-11-01T00:00:00.000Z',
    spent: { tokens: 2_400_100, usd: '47' },
  },
};

const common = { tag: 'budgets', headers: z.object({}), access: 'api_key' as const };
const one = {
  ...common,
  path: '/v1/budgets/{tenant}',
  params: z.strictObject({ tenant: tenantSchema.meta({ description: 'Whose it is.', example: 'acme' }) }),
  query: z.strictObject({}),
};

const list = route({
  ...common,
  method: 'get',
  path: '/v1/budgets',
  summary: 'List budgets of tenants',
  description:
    'Those that PARLEY_TENANT_BUDGETS of this gateway names, and those of other tenants that something was spent of: what each may use over all ' +
    'its work in the running period, what is spent, held for calls under way and left, and the steps that were reached.',
  params: z.strictObject({}),
  query: z.strictObject({ tenant: tenantSchema.optional() }),
  body: null,
  responses: { 200: { description: 'By tenant.', schema: tenantBudgetListSchema, example: { items: [example] } } },
  problems: ['unauthorized', 'forbidden', 'invalid_request', 'unavailable'],
  handle: async ({ query: { tenant } }, { budgets }) => ({ status: 200, body: { items: await budgets.list(tenant) } }),
});

const show = route({
  ...one,
  method: 'get',
  summary: "Show a tenant's budget",
  body: null,
  owner: ({ tenant }) => Promise.resolve({ tenant, what: `budget ${tenant}` }),
  responses: { 200: { description: 'How it stands.', schema: tenantBudgetSchema, example } },
  problems: ['unauthorized', 'not_found', 'invalid_request', 'unavailable'],
  handle: async ({ params: { tenant } }, { budgets }) => ({ status: 200, body: await budgets.show(tenant) }),
});

const answer = route({
  ...one,
  method: 'post',
  summary: 'Give a budget other limits, or stop it',
  description:
    'For the running period: limits that are given take the place of those in force, and calls that wait for a person go on; with `stop` they ' +
    'are refused, as all others are, until limits are given. It needs a key of every tenant: no tenant raises its own.',
  body: answerTenantBudgetSchema,
  bodyExample: { max_usd: 80 },
  allTenants: true,
  responses: { 200: { description: 'How it stands now.', schema: tenantBudgetSchema, example } },
  problems: ['unauthorized', 'forbidden', 'not_found', 'invalid_request', 'unavailable'],
  handle: async ({ params: { tenant }, body }, { budgets }) => ({
    status: 200,
    body: await budgets.answer(tenant, body),
  }),
});

export const budgetRoutes: readonly AnyRoute[] = [list, show, answer];
