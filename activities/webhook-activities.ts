import { Context } from '@temporalio/activity';
import type { AttemptOutcome } from '../src/domain/webhook/delivery.js';
import type { WebhookDelivery } from '../src/domain/webhook/setup.js';
import type { WebhookSender } from './webhooks/sender.js';

export interface WebhookPorts {
  webhooks: Pick<WebhookSender, 'send'>;
}

export const createWebhookActivities = ({ webhooks }: WebhookPorts) => ({
  /** One attempt. A receiver may see it twice where a worker dies: it has the same webhook-id. */
  sendWebhook: async (delivery: Pick<WebhookDelivery, 'webhook' | 'event'>): Promise<AttemptOutcome> =>
    await webhooks.send(delivery, Context.current().cancellationSignal),
});
export type WebhookActivities = ReturnType<typeof createWebhookActivities>;
