import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { knownOfEnded, startOfBudget } from '../activities/budgets/link.js';
import { type OnBegunAnew, updateOrStart } from '../activities/owner/link.js';
import { type BudgetSettings, tenantBudgetSettings } from '../src/settings/budgets.js';
import { type AnswerTenantBudget, type TenantBudget, tenantBudgetSchema } from '../src/contracts/tenant-budget.js';
import { micros } from '../src/domain/budget.js';
import type { BudgetLimits } from '../src/domain/budget.js';
import { ParleyError } from '../src/domain/errors.js';
import { tenantBudgetId, tenantBudgetWorkflowType } from '../src/domain/tenant-budget/messages.js';
import type { TenantBudgetSettings } from '../src/domain/tenant-budget/settings.js';
import { stepTenantBudget } from '../src/domain/tenant-budget/step.js';
import { tenantBudgetView, untouchedBudget } from '../src/domain/tenant-budget/view.js';
import type { BudgetsPort } from '../src/gateway/budgets-port.js';
import { statusQuery } from '../workflows/messages.js';
import { answerBudgetUpdate } from '../workflows/tenant-budget-messages.js';
import { askQuery } from './ask-query.js';
import { parleyTaskQueue } from './task-queue.js';
import { translated } from './temporal-errors.js';
import { quoted } from './work-list.js';

export interface BudgetsOptions {
  client: Client;
  taskQueue?: string;
  /** As this gateway's PARLEY_TENANT_BUDGETS has them; a budget that runs says its own. */
  budgets: BudgetSettings;
  onBegunAnew: OnBegunAnew;
  /** Milliseconds for one question. */
  deadlineMs?: number;
}

/** Most budgets that are asked in one list. */
const mostBudgets = 1_000;

const limitsOf = ({
  max_usd: maxUsd,
  max_tokens: maxTokens,
  stop,
}: AnswerTenantBudget): Partial<BudgetLimits> | 'stop' =>
  stop === true
    ? 'stop'
    : {
        ...(maxUsd !== undefined && { maxUsdMicros: micros(maxUsd) }),
        ...(maxTokens !== undefined && { maxTokens }),
      };

/** Budgets of tenants as their workflows say; one that somebody has ended as it was, and one that nothing was asked of yet as it is
 * configured. */
export const createBudgets = ({
  client,
  taskQueue = parleyTaskQueue,
  budgets,
  onBegunAnew,
  deadlineMs = 10_000,
}: BudgetsOptions): BudgetsPort => {
  const within = async <T>(tenant: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, 'budget', tenant);
    }
  };
  const named = Object.keys(budgets).filter((tenant) => tenant !== '*');

  /** null: it does not run. */
  const running = (tenant: string): Promise<TenantBudget | null> =>
    within(tenant, async () => {
      const handle = client.workflow.getHandle(tenantBudgetId(taskQueue, tenant));
      try {
        if ((await handle.describe()).status.name !== 'RUNNING') return null;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return null; // nothing was ever asked of it
        throw error;
      }
      return tenantBudgetSchema.parse(await askQuery(client, deadlineMs, () => handle.query(statusQuery)));
    });

  /** null: there is none. */
  const find = async (tenant: string): Promise<TenantBudget | null> => {
    const found = await running(tenant);
    if (found) return found;
    const settings = tenantBudgetSettings(budgets, tenant);
    if (settings === null) return null;
    const { known } = await within(tenant, () => knownOfEnded(client, tenantBudgetId(taskQueue, tenant)));
    const now = Date.now();
    return known ? tenantBudgetView(stepTenantBudget(known, [], now).state) : untouchedBudget(settings, now);
  };

  const unknown = (tenant: string): ParleyError =>
    new ParleyError(
      'not_found',
      `Tenant ${tenant} has no budget: PARLEY_TENANT_BUDGETS names neither it nor "*", so that nothing limits what it uses.`,
    );

  const tenants = async (): Promise<string[]> => {
    const prefix = tenantBudgetId(taskQueue, '');
    const query = `WorkflowType = '${tenantBudgetWorkflowType}' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH ${quoted(prefix)}`;
    const open = await within('', async () => {
      const found: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query, pageSize: 200 }))
        if (found.push(workflowId.slice(prefix.length)) === mostBudgets) break;
      return found;
    });
    return [...new Set([...named, ...open])].toSorted((a, b) => a.localeCompare(b));
  };

  const answer = async (settings: TenantBudgetSettings, given: AnswerTenantBudget): Promise<TenantBudget> => {
    const { tenant } = settings;
    const limits = limitsOf(given);
    const start = () => startOfBudget({ client, taskQueue, onBegunAnew }, settings);
    const said = { heard: limits, first: limits, start };
    return await within(tenant, () =>
      updateOrStart(client, tenantBudgetId(taskQueue, tenant), answerBudgetUpdate, said),
    );
  };

  return {
    list: async (tenant) => {
      const asked = tenant === undefined ? await tenants() : [tenant];
      return (await Promise.all(asked.map(find))).filter((found) => found !== null);
    },
    show: async (tenant) => {
      const found = await find(tenant);
      if (found) return found;
      throw unknown(tenant);
    },
    answer: async (tenant, given) => {
      const settings = tenantBudgetSettings(budgets, tenant);
      if (settings) return await answer(settings, given);
      // Another gateway's settings name it, where it runs at all.
      if (await running(tenant))
        return await within(tenant, () =>
          client.workflow
            .getHandle(tenantBudgetId(taskQueue, tenant))
            .executeUpdate(answerBudgetUpdate, { args: [limitsOf(given)] }),
        );
      throw unknown(tenant);
    },
  };
};
