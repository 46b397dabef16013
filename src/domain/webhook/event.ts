import type { FeedbackRequest } from '../../contracts/feedback.js';
import type { WebhookEvent, WebhookEventName } from '../../contracts/webhook.js';
import { iso } from '../instant.js';

/** What every kind's status has, as far as an event tells of it. */
export interface ToldStatus {
  id: string;
  kind: string;
  tenant: string;
  lifecycle: string;
  state: string;
  waiting: { for: string; detail: string } | null;
  error: { code: string; message: string } | null;
  spend: { tokens: number; usd: string };
  started_at: string;
  ended_at: string | null;
}

/**
 * Of a piece of work and one of its durable events. Standard Webhooks wants no full stop in it, since the signature joins with
 * them; ids of work may have one, but no colon, so that two ids never become one.
 */
export const eventIdOf = (workId: string, eventNumber: number): string =>
  `${workId.replaceAll('.', ':')}:${eventNumber}`;

const asked = (request: FeedbackRequest | null): WebhookEvent['data']['feedback_request'] => {
  if (request === null) return null;
  const { request_id, type, phase, step, opened_at, expires_at } = request;
  return { request_id, type, phase, step, opened_at, expires_at };
};

/**
 * What a receiver is told (CloudEvents 1.0): who it is about and how it stands. Answers and questions stay here, behind the
 * keys of the gateway.
 */
export const webhookEvent = (
  { id, kind, tenant, lifecycle, state, waiting, error, spend, started_at, ended_at }: ToldStatus,
  said: { name: WebhookEventName; eventNumber: number; at: number; source: string; request: FeedbackRequest | null },
): WebhookEvent => ({
  specversion: '1.0',
  id: eventIdOf(id, said.eventNumber),
  source: said.source,
  type: `parley.${kind}.${said.name}`,
  subject: id,
  time: iso(said.at),
  datacontenttype: 'application/json',
  data: {
    id,
    kind,
    tenant,
    event_id: said.eventNumber,
    lifecycle,
    state,
    waiting,
    error: error && { code: error.code, message: error.message.slice(0, 2_000) },
    spend,
    started_at,
    ended_at,
    feedback_request: asked(said.request),
  },
});

/** The event that an end is. */
export const endName = (lifecycle: string): WebhookEventName =>
  lifecycle === 'failed' || lifecycle === 'cancelled' ? lifecycle : 'completed';
