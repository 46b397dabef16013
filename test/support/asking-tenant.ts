import type { TenantBudget } from '../../src/contracts/tenant-budget.js';
import type { Product } from './product.js';

/** A tenant whose calls wait for a person, in a product of this environment, until its budget is raised. */
export const asker = 'asker';
export const askingTenant = {
  PARLEY_TENANT_BUDGETS: JSON.stringify({ [asker]: { max_tokens: 0, when_used_up: 'ask' } }),
};

/** Until so many calls wait for a person. */
export const asks = async (product: Product, count = 1): Promise<void> => {
  const look = async (): Promise<TenantBudget> => (await product.get(`/v1/budgets/${asker}`)).body;
  for (let { calls } = await look(); calls.waiting < count; { calls } = await look())
    await new Promise((resolve) => setTimeout(resolve, 50));
};

/** Until so many calls wait for a person; then there is more than they can use. */
export const answered = async (product: Product, count = 1): Promise<void> => {
  await asks(product, count);
  await product.post(`/v1/budgets/${asker}`, { max_tokens: 1_000_000 });
};
