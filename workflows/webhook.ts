import {
  ApplicationFailure,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookStatus } from '../src/contracts/webhook.js';
import {
  afterAttempt,
  type AttemptOutcome,
  deliveryDetail,
  deliveryDetails,
  deliveryStatus,
  openDelivery,
} from '../src/domain/webhook/delivery.js';
import type { WebhookDelivery } from '../src/domain/webhook/setup.js';
import { statusQuery } from './messages.js';
import { trace, webhookAttempts } from './options.js';
import { refusal, rootMessage } from './work.js';

/**
 * One event on its way to one receiver (spec 08 "Webhooks"): attempts with a timer between them, until the receiver takes it,
 * refuses it for good, or the time is over. A dead one fails, with its status as what it failed with.
 */
export async function webhook(delivery: WebhookDelivery): Promise<WebhookStatus> {
  if (delivery?.event === undefined || delivery.webhook === undefined)
    throw refusal('invalid_request', 'a webhook takes a delivery; work that names webhooks starts it');
  let state = openDelivery(delivery, workflowInfo().startTime.getTime());
  setHandler(statusQuery, () => deliveryStatus(state), { description: 'The delivery and its attempts' });

  while (state.nextAttemptAt !== null) {
    const waitMs = state.nextAttemptAt - Date.now();
    if (waitMs > 0) await sleep(waitMs, { summary: `until attempt ${state.attemptsMade + 1}` });
    const at = Date.now();
    const outcome = await attempt(delivery, state.attemptsMade + 1, at);
    state = afterAttempt(state, outcome, { at, now: Date.now(), random: Math.random() });
    setCurrentDetails(deliveryDetails(state));
  }
  const status = deliveryStatus(state);
  // A list reads these without asking anybody.
  upsertMemo({ attempts: status.attempts_made, detail: deliveryDetail(state) });
  trace.delivery(status.state === 'delivered' ? 'delivered' : 'dead');
  if (status.state === 'delivered') return status;
  throw ApplicationFailure.create({
    message: `${status.type} was not delivered to ${status.target}: ${status.detail}`,
    type: 'EAGENTDOWN',
    nonRetryable: true,
    details: [status],
  });
}

const attempt = async ({ webhook: target, event }: WebhookDelivery, number: number, at: number) => {
  const { sendWebhook } = webhookAttempts;
  try {
    return await sendWebhook.executeWithOptions({ summary: `attempt ${number}` }, [{ webhook: target, event }]);
  } catch (error) {
    if (isCancellation(error)) throw error;
    const outcome: AttemptOutcome = {
      httpStatus: null,
      isRefused: false,
      detail: `no worker brought the attempt to its end: ${rootMessage(error)}`,
      retryAfterMs: null,
      tookMs: Date.now() - at,
    };
    return outcome;
  }
};
