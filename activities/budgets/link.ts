import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  WithStartWorkflowOperation,
  type WorkflowHandle,
} from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import {
  type BudgetAnswer,
  type BudgetFigures,
  type BudgetSaid,
  tenantBudgetId,
  type TenantBudgetStart,
  tenantBudgetWorkflowType,
} from '../../src/domain/tenant-budget/messages.js';
import type { TenantBudgetSettings } from '../../src/domain/tenant-budget/settings.js';
import type { TenantBudgetState } from '../../src/domain/tenant-budget/state.js';
import { exchangeBudgetUpdate, knownBudgetQuery, saidBudgetUpdate } from '../../workflows/tenant-budget-messages.js';
import { isGone, updateOrStart } from '../owner/link.js';

/** A worker's way to the budgets of tenants. One that is not there is started, with what is known of it. */
export interface BudgetLink {
  /**
   * Answers once there is something to tell.
   * @throws what Temporal throws: none of what was said is known to be heard then
   */
  exchange(settings: TenantBudgetSettings, said: BudgetSaid): Promise<BudgetAnswer>;
  say(settings: TenantBudgetSettings, said: BudgetSaid): Promise<BudgetFigures>;
}

/** Whether a query is refused as nothing of the workflow has ever run: it ended before a worker took it up. */
const hasNeverRun = (error: unknown): boolean => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (isGrpcServiceError(cause) && cause.message.includes('closed before WorkflowTaskStarted')) return true;
  return false;
};

/** What it was to begin with; null: nothing. */
const knownAtStart = async (handle: WorkflowHandle): Promise<TenantBudgetState | null> => {
  const { events } = await handle.fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [start] = await decodeArrayFromPayloads(handle.client.options.loadedDataConverter, payloads);
  return (start as Partial<TenantBudgetStart> | undefined)?.carried ?? null;
};

/**
 * What the budget knew last that somebody has ended by hand, as long as Temporal keeps its history; null: there is nothing, or it has
 * ended by itself and knew nothing that matters.
 * @throws what Temporal throws where it cannot be asked now
 */
export const knownOfEnded = async (client: Client, id: string): Promise<TenantBudgetState | null> => {
  const handle = client.workflow.getHandle(id);
  try {
    const { status } = await handle.describe();
    if (status.name === 'RUNNING' || status.name === 'COMPLETED') return null;
    return await handle.query(knownBudgetQuery);
  } catch (error) {
    // It was begun by hand with nothing of use, or its history is one that this version cannot replay.
    if (isGone(error) || error instanceof QueryNotRegisteredError) return null;
    if (hasNeverRun(error)) return await knownAtStart(handle);
    throw error;
  }
};

/** How a budget begins, whoever needs it first. */
export const startOfBudget = async (client: Client, taskQueue: string, settings: TenantBudgetSettings) => {
  const workflowId = tenantBudgetId(taskQueue, settings.tenant);
  const known = await knownOfEnded(client, workflowId);
  return new WithStartWorkflowOperation(tenantBudgetWorkflowType, {
    workflowId,
    taskQueue,
    args: [{ settings, ...(known && { carried: known }) } satisfies TenantBudgetStart],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowTaskTimeout: '2 seconds',
    staticSummary: `Budget of ${settings.tenant}`,
    staticDetails:
      'Keeps what the tenant may use over all its work. It holds no work; where somebody ends it, the next call begins it with what it knew.',
  });
};

export const createBudgetLink = (client: Client, taskQueue: string): BudgetLink => {
  const said = (settings: TenantBudgetSettings, heard: BudgetSaid) => ({
    heard,
    first: { ...heard, settings },
    start: () => startOfBudget(client, taskQueue, settings),
  });
  const idOf = ({ tenant }: TenantBudgetSettings): string => tenantBudgetId(taskQueue, tenant);
  return {
    exchange: (settings, heard) => updateOrStart(client, idOf(settings), exchangeBudgetUpdate, said(settings, heard)),
    say: (settings, heard) => updateOrStart(client, idOf(settings), saidBudgetUpdate, said(settings, heard)),
  };
};
