import type { WebhookAttempt, WebhookState, WebhookStatus } from '../../contracts/webhook.js';
import { iso } from '../instant.js';
import { originOf, type WebhookDelivery } from './setup.js';

/** What one attempt came to. */
export interface AttemptOutcome {
  /** null: there was no answer. */
  httpStatus: number | null;
  /** Whether it was not even tried, because nothing may be sent there. */
  isRefused: boolean;
  /** In words that hold no secret. */
  detail: string;
  /** How long the receiver asks to wait. */
  retryAfterMs: number | null;
  tookMs: number;
}

/** One event on its way to one receiver: plain JSON. */
export interface DeliveryState {
  delivery: WebhookDelivery;
  state: WebhookState;
  attempts: WebhookAttempt[];
  attemptsMade: number;
  startedAt: number;
  endedAt: number | null;
  /** null: there is none to come. */
  nextAttemptAt: number | null;
}

/** Statuses below 500 after which another attempt may end otherwise. */
const passing = new Set([408, 409, 425, 429]);
const keptAttempts = 50;
const firstDelayMs = 1_000;
const longestDelayMs = 3_600_000;

/** `again`: another attempt may end otherwise. A redirect is not followed: it could lead anywhere. */
export const verdictOf = ({ httpStatus, isRefused }: AttemptOutcome): 'delivered' | 'again' | 'final' => {
  if (httpStatus === null) return isRefused ? 'final' : 'again';
  if (httpStatus >= 200 && httpStatus <= 299) return 'delivered';
  return httpStatus >= 500 || passing.has(httpStatus) ? 'again' : 'final';
};

/**
 * Milliseconds until the attempt after `attempt` (from 1): 1 s, doubled each time up to an hour, of which `random` (0 to 1)
 * takes or gives a quarter, so that receivers that come back are not met by everybody at once.
 */
export const backoffMs = (attempt: number, random: number): number =>
  Math.round(Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 20)) * (0.75 + random / 2));

export const openDelivery = (delivery: WebhookDelivery, now: number): DeliveryState => ({
  delivery,
  state: 'pending',
  attempts: [],
  attemptsMade: 0,
  startedAt: now,
  endedAt: null,
  nextAttemptAt: now,
});

const givesUpAt = ({ startedAt, delivery }: DeliveryState): number => startedAt + delivery.webhook.retryMs;

/** The delivery after an attempt that began at `at` and ended at `now`: with the next one's moment, or at its end. */
export const afterAttempt = (
  before: DeliveryState,
  outcome: AttemptOutcome,
  { at, now, random }: { at: number; now: number; random: number },
): DeliveryState => {
  const verdict = verdictOf(outcome);
  const number = before.attemptsMade + 1;
  const attempt: WebhookAttempt = {
    number,
    at: iso(at),
    took_ms: outcome.tookMs,
    http_status: outcome.httpStatus,
    outcome: verdict === 'delivered' ? 'delivered' : 'failed',
    detail: outcome.detail,
  };
  const after = { ...before, attempts: [...before.attempts, attempt].slice(-keptAttempts), attemptsMade: number };
  const next = now + Math.max(backoffMs(number, random), outcome.retryAfterMs ?? 0);
  if (verdict === 'again' && next <= givesUpAt(before)) return { ...after, nextAttemptAt: next };
  return { ...after, state: verdict === 'delivered' ? 'delivered' : 'dead', endedAt: now, nextAttemptAt: null };
};

/** Why a delivery is dead, or what its last attempt came to. */
export const deliveryDetail = (delivery: DeliveryState): string | null => {
  const last = delivery.attempts.at(-1)?.detail ?? null;
  if (delivery.state !== 'dead' || last === null) return last;
  return `${last}; given up after ${delivery.attemptsMade === 1 ? '1 attempt' : `${delivery.attemptsMade} attempts`}`;
};

export const deliveryStatus = (delivery: DeliveryState): WebhookStatus => {
  const { id, event, webhook } = delivery.delivery;
  const { state, attempts, attemptsMade, startedAt, endedAt, nextAttemptAt } = delivery;
  return {
    id,
    work_id: event.data.id,
    tenant: event.data.tenant,
    type: event.type,
    target: originOf(webhook.url),
    state,
    detail: deliveryDetail(delivery),
    started_at: iso(startedAt),
    ended_at: endedAt === null ? null : iso(endedAt),
    event_id: event.id,
    signed: webhook.secretEnv !== null,
    attempts_made: attemptsMade,
    attempts,
    next_attempt_at: nextAttemptAt === null ? null : iso(nextAttemptAt),
    gives_up_at: iso(givesUpAt(delivery)),
  };
};

/** What Temporal's Web UI shows of it. */
export const deliveryDetails = (delivery: DeliveryState): string => {
  const { type, target, state, attempts_made: made, next_attempt_at: next, detail } = deliveryStatus(delivery);
  return [
    `**${type}** to ${target}: ${state}`,
    `attempts: ${made}${next === null ? '' : `, the next at ${next}`}`,
    ...(detail === null ? [] : [detail]),
  ].join('\n\n');
};
