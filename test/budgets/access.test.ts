import request from 'supertest';
import { newTenantBudget } from '../../src/domain/tenant-budget/state.js';
import { tenantBudgetView } from '../../src/domain/tenant-budget/view.js';
import { createRig } from '../gateway/rig.js';
import { budgetSettings } from '../support/tenant-budget-play.js';

const keyOf = (name: string): string => `${name}-key-that-is-long-enough`;
const keys = [
  { name: 'root', key: keyOf('root'), role: 'admin', tenant: '*' },
  { name: 'operator', key: keyOf('operator'), role: 'operator', tenant: '*' },
  { name: 'viewer', key: keyOf('viewer'), role: 'viewer', tenant: '*' },
  { name: 'acme', key: keyOf('acme'), role: 'admin', tenant: 'acme' },
];

/** The gateway over two budgets in memory. */
const rig = () => {
  const { app, ports } = createRig({ env: { PARLEY_API_KEYS: JSON.stringify(keys) } });
  const all = ['acme', 'other'].map((tenant) => tenantBudgetView(newTenantBudget(budgetSettings({ tenant }), 0)));
  const show = (tenant: string) => Promise.resolve(all.find((each) => each.tenant === tenant)!);
  ports.budgets = {
    list: (tenant) => Promise.resolve(all.filter((each) => tenant === undefined || each.tenant === tenant)),
    show,
    answer: show,
  };
  const as = (name: string) => ({ authorization: `Bearer ${keyOf(name)}` });
  return {
    get: (path: string, name: string) => request(app).get(path).set(as(name)),
    post: (path: string, name: string) => request(app).post(path).set(as(name)).send({ max_tokens: 5 }),
  };
};

describe('budgets of tenants', () => {
  test.each([
    ['root', 200, 200],
    ['operator', 200, 200],
    ['viewer', 200, 403],
    ['acme', 404, 403],
  ])('are to %s: %i for a look at one of another tenant, %i for other limits', async (name, look, answer) => {
    const { get, post } = rig();
    expect((await get('/v1/budgets/other', name)).status).toBe(look);
    expect((await post('/v1/budgets/other', name)).status).toBe(answer);
  });

  test('are seen by a tenant as far as they are its own, which it cannot raise', async () => {
    const { get, post } = rig();
    const listed = async (path: string, name: string) =>
      ((await get(path, name)).body as { items: { tenant: string }[] }).items.map(({ tenant }) => tenant);
    expect(await listed('/v1/budgets', 'root')).toEqual(['acme', 'other']);
    expect(await listed('/v1/budgets', 'acme')).toEqual(['acme']);
    expect((await get('/v1/budgets/acme', 'acme')).status).toBe(200);
    expect((await get('/v1/budgets?tenant=other', 'acme')).status).toBe(403);
    const refused = await post('/v1/budgets/acme', 'acme');
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([403, 'forbidden']);
  });
});
