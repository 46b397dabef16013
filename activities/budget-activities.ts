import { noAmount } from '../src/domain/budget.js';
import { ParleyError } from '../src/domain/errors.js';
import { beating } from './asking.js';
import type { BudgetedCall, TenantBudgets } from './budgets/port.js';
import { whileWaiting } from './call-waits.js';

export interface BudgetPorts {
  /** Left out: no tenant has one. */
  budgets?: Pick<TenantBudgets, 'rulesOf' | 'reserve'>;
}

export const createBudgetActivities = ({ budgets }: BudgetPorts) => ({
  /**
   * Waits, however long, until the budget of a tenant lets a call go on, or refuses it: who makes it hears of that then. It holds
   * nothing itself.
   */
  awaitBudget: (call: BudgetedCall): Promise<void> =>
    beating(async (signal) => {
      const { tenant } = call;
      if (!budgets || budgets.rulesOf(tenant) === null) return;
      try {
        const awaited = { for: 'budget', of: `tenant ${tenant}` } as const;
        const reservation = await whileWaiting(awaited, () => budgets.reserve(call, signal));
        reservation.end(noAmount);
      } catch (error) {
        if (!(error instanceof ParleyError) || error.code !== 'EBUDGET') throw error;
      }
    }),
});
export type BudgetActivities = ReturnType<typeof createBudgetActivities>;
