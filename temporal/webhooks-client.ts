import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
  WorkflowFailedError,
} from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import type { WebhookItem, WebhookState, WebhookStatus } from '../src/contracts/webhook.js';
import { ParleyError } from '../src/domain/errors.js';
import type { WebhookMemo } from '../src/domain/webhook/setup.js';
import { webhookWorkflowType } from '../src/domain/webhook/setup.js';
import type { WebhooksPort } from '../src/gateway/webhooks-port.js';
import { statusQuery } from '../workflows/messages.js';
import { askQuery } from './ask-query.js';
import { searchAttributes } from './search-attributes.js';
import { startedWith } from './started-with.js';
import { notFound, translated } from './temporal-errors.js';
import { cursorOf, newestOf, pageToken, quoted } from './work-list.js';

const ofType = `WorkflowType = ${quoted(webhookWorkflowType)}`;

/** What has been closed in any other way than by being delivered reaches nobody any more. */
const clauseOf: Record<WebhookState, string> = {
  pending: "ExecutionStatus = 'Running'",
  delivered: "ExecutionStatus = 'Completed'",
  dead: "ExecutionStatus IN ('Failed', 'Canceled', 'Terminated', 'TimedOut')",
};

const stateOf = (status: string): WebhookState =>
  status === 'RUNNING' || status === 'PAUSED' ? 'pending' : status === 'COMPLETED' ? 'delivered' : 'dead';

const itemOf = (info: WorkflowExecutionInfo): WebhookItem => {
  const memo: Partial<WebhookMemo> = info.memo ?? {};
  const state = stateOf(info.status.name);
  const isByItself = info.status.name === 'COMPLETED' || info.status.name === 'FAILED';
  return {
    id: info.workflowId,
    work_id: memo.workId ?? '',
    tenant: info.typedSearchAttributes.get(searchAttributes.tenant) ?? 'default',
    type: memo.type ?? '',
    target: memo.target ?? '',
    state,
    detail: state === 'dead' && !isByItself ? closedDetail(info.status.name) : (memo.detail ?? null),
    attempts: memo.attempts ?? null,
    started_at: info.startTime.toISOString(),
    ended_at: info.closeTime?.toISOString() ?? null,
  };
};

const closedDetail = (how: string): string => `closed from outside (${how}); see it in Temporal's Web UI`;

/**
 * Deliveries of webhooks, which are workflows of their own: what is pending, delivered or dead is asked of Temporal's
 * visibility store, and goes with its retention.
 */
export const createWebhooks = (client: Client, deadlineMs = 10_000): WebhooksPort => {
  const within = async <T>(id: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, ask);
    } catch (error) {
      throw translated(error, 'webhook', id);
    }
  };
  const describe = async (id: string): Promise<WorkflowExecutionDescription> => {
    const description = await within(id, () => client.workflow.getHandle(id).describe());
    if (description.type !== webhookWorkflowType) throw notFound('webhook', id);
    return description;
  };

  /** The status that a delivery ended with; null where it did not end by itself. */
  const leftBehind = async (id: string): Promise<WebhookStatus | null> => {
    try {
      return await client.withDeadline(Date.now() + deadlineMs, () =>
        client.workflow.getHandle<() => Promise<WebhookStatus>>(id).result(),
      );
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw translated(error, 'webhook', id);
      const { cause } = error;
      return cause instanceof ApplicationFailure ? ((cause.details?.[0] as WebhookStatus | undefined) ?? null) : null;
    }
  };

  const status = async (id: string): Promise<WebhookStatus> => {
    const { status: how, closeTime } = await describe(id);
    const state = stateOf(how.name);
    const left = state === 'pending' ? null : await leftBehind(id);
    if (left !== null) return left;
    const asked = (await within(id, () =>
      askQuery(client, deadlineMs, () => client.workflow.getHandle(id).query(statusQuery)),
    )) as WebhookStatus;
    if (state === 'pending' || asked.state !== 'pending') return asked;
    const ended = { ended_at: closeTime?.toISOString() ?? null, next_attempt_at: null };
    return { ...asked, ...ended, state, detail: closedDetail(how.name) };
  };

  const firstPage = async (id: string, runId: string) => {
    const { namespace } = client.options;
    const page = await within(id, () =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: { workflowId: id, runId },
        maximumPageSize: 1,
      }),
    );
    return { events: page.history?.events ?? [] };
  };

  return {
    list: async ({ state, tenant, cursor, limit }) => {
      const { namespace, loadedDataConverter } = client.options;
      const query = [
        ofType,
        ...(state === undefined ? [] : [clauseOf[state]]),
        ...(tenant === undefined ? [] : [`${searchAttributes.tenant.name} = ${quoted(tenant)}`]),
      ].join(' AND ');
      const nextPageToken = pageToken(cursor, query);
      const [page, isNewest] = await within('', () =>
        Promise.all([
          client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: limit, nextPageToken }),
          newestOf(client, ofType),
        ]),
      );
      const infos = await Promise.all(
        page.executions.map((raw) => executionInfoFromRaw(raw, loadedDataConverter, raw, namespace)),
      );
      return {
        items: infos.filter(isNewest).map(itemOf),
        next_cursor: page.nextPageToken.length > 0 ? cursorOf(page.nextPageToken, query) : null,
      };
    },

    status,

    redeliver: async (id) => {
      const description = await describe(id);
      const pending = (): ParleyError =>
        new ParleyError('wrong_state', `webhook ${id} is pending: it is still tried by itself; look at its attempts.`);
      if (stateOf(description.status.name) === 'pending') throw pending();
      const { setup: delivery } = await startedWith(client, await firstPage(id, description.runId));
      const { workId, type, target } = (description.memo ?? {}) as unknown as WebhookMemo;
      const tenant = description.typedSearchAttributes.get(searchAttributes.tenant) ?? 'default';
      try {
        await within(id, () =>
          client.workflow.start(webhookWorkflowType, {
            workflowId: id,
            taskQueue: description.taskQueue,
            args: [delivery],
            workflowIdReusePolicy: 'ALLOW_DUPLICATE',
            workflowIdConflictPolicy: 'FAIL',
            workflowTaskTimeout: '2 seconds',
            memo: { workId, type, target },
            staticSummary: `${type} to ${target}, again`,
            typedSearchAttributes: new TypedSearchAttributes([
              { key: searchAttributes.tenant, value: tenant },
              // The run of before is the same delivery: a list shows this one in its place.
              { key: searchAttributes.restored, value: true },
            ]),
          }),
        );
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) throw pending();
        throw error;
      }
    },
  };
};
