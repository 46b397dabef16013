import { Context } from '@temporalio/activity';
import { type AttemptOutcome, verdictOf } from '../src/domain/webhook/delivery.js';
import type { WebhookDelivery } from '../src/domain/webhook/setup.js';
import type { WorkMetrics } from './metrics.js';
import type { WebhookSender } from './webhooks/sender.js';

export interface WebhookPorts {
  webhooks: Pick<WebhookSender, 'send'>;
  metrics: Pick<WorkMetrics, 'webhookAttempted'>;
}

export const createWebhookActivities = ({ webhooks, metrics }: WebhookPorts) => ({
  /** One attempt. A receiver may see it twice where a worker dies: it has the same webhook-id. */
  sendWebhook: async (delivery: Pick<WebhookDelivery, 'webhook' | 'event'>): Promise<AttemptOutcome> => {
    const outcome = await webhooks.send(delivery, Context.current().cancellationSignal);
    metrics.webhookAttempted(verdictOf(outcome) === 'delivered' ? 'delivered' : 'failed');
    return outcome;
  },
});
export type WebhookActivities = ReturnType<typeof createWebhookActivities>;
