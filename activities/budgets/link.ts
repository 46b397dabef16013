import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import {
  type BudgetAnswer,
  type BudgetFigures,
  type BudgetSaid,
  tenantBudgetId,
  type TenantBudgetStart,
  tenantBudgetWorkflowType,
} from '../../src/domain/tenant-budget/messages.js';
import type { TenantBudgetSettings } from '../../src/domain/tenant-budget/settings.js';
import { exchangeBudgetUpdate, saidBudgetUpdate } from '../../workflows/tenant-budget-messages.js';
import { updateOrStart } from '../owner/link.js';

/** A worker's way to the budgets of tenants. One that is not there is started: what was used is never forgotten for want of it. */
export interface BudgetLink {
  /**
   * Answers once there is something to tell.
   * @throws what Temporal throws: none of what was said is known to be heard then
   */
  exchange(settings: TenantBudgetSettings, said: BudgetSaid): Promise<BudgetAnswer>;
  say(settings: TenantBudgetSettings, said: BudgetSaid): Promise<BudgetFigures>;
}

/** How a budget begins, whoever needs it first. */
export const startOfBudget = (taskQueue: string, settings: TenantBudgetSettings) =>
  new WithStartWorkflowOperation(tenantBudgetWorkflowType, {
    workflowId: tenantBudgetId(taskQueue, settings.tenant),
    taskQueue,
    args: [{ settings } satisfies TenantBudgetStart],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowTaskTimeout: '2 seconds',
    staticSummary: `Budget of ${settings.tenant}`,
    staticDetails:
      'Keeps what the tenant may use over all its work. It holds no work; who ends it makes it forget what was spent.',
  });

export const createBudgetLink = (client: Client, taskQueue: string): BudgetLink => {
  const said = (settings: TenantBudgetSettings, heard: BudgetSaid) => ({
    heard,
    first: { ...heard, settings },
    start: () => Promise.resolve(startOfBudget(taskQueue, settings)),
  });
  const idOf = ({ tenant }: TenantBudgetSettings): string => tenantBudgetId(taskQueue, tenant);
  return {
    exchange: (settings, heard) => updateOrStart(client, idOf(settings), exchangeBudgetUpdate, said(settings, heard)),
    say: (settings, heard) => updateOrStart(client, idOf(settings), saidBudgetUpdate, said(settings, heard)),
  };
};
