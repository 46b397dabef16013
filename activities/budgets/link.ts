import {
  type Client,
  isGrpcServiceError,
  QueryNotRegisteredError,
  WithStartWorkflowOperation,
  type WorkflowExecutionDescription,
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
import { endedRun, isGone, type OnBegunAnew, updateOrStart } from '../owner/link.js';

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

/** What a budget knew that somebody has ended by hand; null: nothing, or nothing that can be read. */
export interface EndedBudget {
  known: TenantBudgetState | null;
  /** Why what it had counted is lost; null: nothing is. */
  lost: { why: string; about: Record<string, unknown> } | null;
}

const nothing: EndedBudget = { known: null, lost: null };

/**
 * What the budget knew last that somebody has ended by hand, as long as Temporal keeps its history; nothing where there is none, or
 * where it has ended by itself and knew nothing that matters.
 * @throws what Temporal throws where it cannot be asked now
 */
export const knownOfEnded = async (client: Client, id: string): Promise<EndedBudget> => {
  const handle = client.workflow.getHandle(id);
  const ended = await describeOrNull(handle);
  // One that has failed was begun by hand, with nothing of use.
  if (ended === null || ['RUNNING', 'COMPLETED', 'FAILED'].includes(ended.status.name)) return nothing;
  try {
    return { known: await handle.query(knownBudgetQuery), lost: null };
  } catch (error) {
    const about = { ...endedRun(ended), err: error };
    if (isGone(error)) return { known: null, lost: { why: 'Temporal has no history of it any more', about } };
    if (error instanceof QueryNotRegisteredError)
      return { known: null, lost: { why: 'this version cannot replay its history', about } };
    if (hasNeverRun(error)) return { known: await knownAtStart(handle), lost: null };
    throw error;
  }
};

const describeOrNull = async (handle: WorkflowHandle): Promise<WorkflowExecutionDescription | null> => {
  try {
    return await handle.describe();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
};

/** How a budget begins, whoever needs it first. */
export const startOfBudget = async (
  { client, taskQueue, onBegunAnew }: BudgetLinkOptions,
  settings: TenantBudgetSettings,
) => {
  const { tenant } = settings;
  const workflowId = tenantBudgetId(taskQueue, tenant);
  const { known, lost } = await knownOfEnded(client, workflowId);
  if (lost) {
    const message = `the budget of tenant ${tenant} begins anew, with nothing spent: what the one before had counted is lost, as ${lost.why}`;
    onBegunAnew({ tenant, ...lost.about, limits: settings }, message);
  }
  return new WithStartWorkflowOperation(tenantBudgetWorkflowType, {
    workflowId,
    taskQueue,
    args: [{ settings, ...(known && { carried: known }) } satisfies TenantBudgetStart],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowTaskTimeout: '2 seconds',
    staticSummary: `Budget of ${tenant}`,
    staticDetails:
      'Keeps what the tenant may use over all its work. It holds no work; where somebody ends it, the next call begins it with what it knew.',
  });
};

export interface BudgetLinkOptions {
  client: Client;
  taskQueue: string;
  onBegunAnew: OnBegunAnew;
}

export const createBudgetLink = (options: BudgetLinkOptions): BudgetLink => {
  const { client, taskQueue } = options;
  const said = (settings: TenantBudgetSettings, heard: BudgetSaid) => ({
    heard,
    first: { ...heard, settings },
    start: () => startOfBudget(options, settings),
  });
  const idOf = ({ tenant }: TenantBudgetSettings): string => tenantBudgetId(taskQueue, tenant);
  return {
    exchange: (settings, heard) => updateOrStart(client, idOf(settings), exchangeBudgetUpdate, said(settings, heard)),
    say: (settings, heard) => updateOrStart(client, idOf(settings), saidBudgetUpdate, said(settings, heard)),
  };
};
