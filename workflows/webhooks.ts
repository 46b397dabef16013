import {
  ChildWorkflowCancellationType,
  log,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { FeedbackRequest } from '../src/contracts/feedback.js';
import type { WebhookEvent, WebhookEventName } from '../src/contracts/webhook.js';
import { endName, type ToldStatus, webhookEvent } from '../src/domain/webhook/event.js';
import {
  deliveryId,
  originOf,
  type WebhookDelivery,
  type WebhookMemo,
  type WebhookSetup,
  webhookWorkflowType,
} from '../src/domain/webhook/setup.js';
import { searchAttributes } from '../temporal/search-attributes.js';

/**
 * Hands events of one piece of work to workflows of their own, which outlive it. Work without webhooks asks nothing of
 * Temporal here.
 */
export class Webhooks {
  private starting = 0;
  private isEndTold = false;

  constructor(private readonly webhooks: readonly WebhookSetup[]) {}

  /** Whether each delivery so far has been started for certain. */
  get isIdle(): boolean {
    return this.starting === 0;
  }

  /** A person is asked: told once for each request, by its durable event; null: for each report, which asks for many runs. */
  asked(status: () => ToldStatus, eventNumber: number, request: FeedbackRequest | null): void {
    this.tell('awaiting_feedback', status, eventNumber, request);
  }

  /** The work is over; only the first call counts. */
  ended(status: () => ToldStatus, eventNumber: number): void {
    if (this.isEndTold || this.webhooks.length === 0) return;
    this.isEndTold = true;
    this.tell(endName(status().lifecycle), status, eventNumber, null);
  }

  private tell(
    name: WebhookEventName,
    statusOf: () => ToldStatus,
    eventNumber: number,
    request: FeedbackRequest | null,
  ): void {
    if (this.webhooks.length === 0) return;
    const status = statusOf();
    for (const [index, { events, source, ...webhook }] of this.webhooks.entries()) {
      if (!events.includes(name)) continue;
      const event = webhookEvent(status, { name, eventNumber, at: Date.now(), source, request });
      this.starting += 1;
      void begin({ id: deliveryId(status.id, index, eventNumber), webhook, event }).then(() => {
        this.starting -= 1;
      });
    }
  }
}

const memoOf = (event: WebhookEvent, url: string): WebhookMemo => ({
  workId: event.data.id,
  type: event.type,
  target: originOf(url),
});

/** Never rejects: work does not fail because nobody can be told of it. */
const begin = async (delivery: WebhookDelivery): Promise<void> => {
  const { id, webhook, event } = delivery;
  const summary = `${event.type} to ${originOf(webhook.url)}`;
  try {
    await startChild(webhookWorkflowType, {
      workflowId: id,
      args: [delivery],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: '2 seconds',
      memo: memoOf(event, webhook.url),
      staticSummary: summary,
      typedSearchAttributes: [{ key: searchAttributes.tenant, value: event.data.tenant }],
    });
  } catch (error) {
    // After a reset of Temporal's own the same event comes again, and was handed over then.
    if (error instanceof WorkflowExecutionAlreadyStartedError) return;
    log.error('an event could not be handed over', { delivery: id, error: String(error) });
  }
};
