import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { noAmount } from '../src/domain/budget.js';
import { ParleyError } from '../src/domain/errors.js';
import { beating } from './asking.js';
import { type BudgetedCall, PersonAskedError, type TenantBudgets } from './budgets/port.js';
import { whileWaiting } from './call-waits.js';

export interface BudgetPorts {
  /** Left out: no tenant has one. */
  budgets?: Pick<TenantBudgets, 'rulesOf' | 'reserve'>;
}

/** Calls that a worker lets wait within itself: persons take hours, and what it has at once is for the work of all tenants. */
const mostWaiting = 100;
/** After so long others look whether they may go on. */
const lookAgainMs = 30_000;

export const createBudgetActivities = ({ budgets }: BudgetPorts) => {
  let waiting = 0;
  return {
    /**
     * Waits, however long, until the budget of a tenant lets a call go on, or refuses it: who makes it hears of that then. It holds
     * nothing itself.
     * @throws ApplicationFailure where many wait here already: it is to be tried again later
     */
    awaitBudget: (call: BudgetedCall): Promise<void> =>
      beating(async (signal) => {
        const { tenant } = call;
        if (!budgets || budgets.rulesOf(tenant) === null) return;
        const looks = waiting >= mostWaiting;
        if (!looks) waiting += 1;
        try {
          const awaited = { for: 'budget', of: `tenant ${tenant}` } as const;
          const reservation = await whileWaiting(awaited, () => budgets.reserve(call, signal, looks));
          reservation.end(noAmount);
        } catch (error) {
          if (error instanceof PersonAskedError)
            throw ApplicationFailure.create({
              ...{ message: error.message, nextRetryDelay: lookAgainMs },
              // Nothing has failed: no log says so, and no metric.
              category: ApplicationFailureCategory.BENIGN,
            });
          if (!(error instanceof ParleyError) || error.code !== 'EBUDGET') throw error;
        } finally {
          if (!looks) waiting -= 1;
        }
      }),
  };
};
export type BudgetActivities = ReturnType<typeof createBudgetActivities>;
