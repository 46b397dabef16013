import type { WebhookEvent } from '../../../src/contracts/webhook.js';
import {
  afterAttempt,
  type AttemptOutcome,
  backoffMs,
  deliveryStatus,
  type DeliveryState,
  openDelivery,
  verdictOf,
} from '../../../src/domain/webhook/delivery.js';
import { endName, eventIdOf, type ToldStatus, webhookEvent } from '../../../src/domain/webhook/event.js';
import { deliveryId, originOf } from '../../../src/domain/webhook/setup.js';

const answered = (httpStatus: number | null, over: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  httpStatus,
  isRefused: false,
  detail: httpStatus === null ? 'no answer' : `answered ${httpStatus}`,
  retryAfterMs: null,
  tookMs: 5,
  ...over,
});

describe('what an answer means', () => {
  test.each<[number | null, ReturnType<typeof verdictOf>]>([
    [200, 'delivered'],
    [202, 'delivered'],
    [204, 'delivered'],
    [299, 'delivered'],
    [301, 'final'],
    [302, 'final'],
    [307, 'final'],
    [308, 'final'],
    [400, 'final'],
    [401, 'final'],
    [403, 'final'],
    [404, 'final'],
    [408, 'again'],
    [409, 'again'],
    [410, 'final'],
    [413, 'final'],
    [422, 'final'],
    [425, 'again'],
    [429, 'again'],
    [500, 'again'],
    [501, 'again'],
    [502, 'again'],
    [503, 'again'],
    [504, 'again'],
    [null, 'again'],
  ])('%s: %s', (status, verdict) => {
    expect(verdictOf(answered(status))).toBe(verdict);
  });

  test('a target that nothing may be sent to is final', () => {
    expect(verdictOf(answered(null, { isRefused: true }))).toBe('final');
  });
});

describe('the wait before the next attempt', () => {
  test.each([
    [1, 750, 1_250],
    [2, 1_500, 2_500],
    [5, 12_000, 20_000],
    [12, 1_536_000, 2_560_000],
    [13, 2_700_000, 4_500_000],
    [1_000, 2_700_000, 4_500_000],
  ])('after attempt %i is from %i to %i ms', (attempt, least, most) => {
    expect([backoffMs(attempt, 0), backoffMs(attempt, 1)]).toEqual([least, most]);
  });
});

const event: WebhookEvent = webhookEvent(
  {
    id: 's.1',
    kind: 'session',
    tenant: 'acme',
    lifecycle: 'completed',
    state: 'COMPLETE',
    waiting: null,
    error: null,
    spend: { tokens: 1, usd: '0' },
    started_at: '2026-01-01T00:00:00.000Z',
    ended_at: '2026-01-01T00:00:01.000Z',
  },
  { name: 'completed', eventNumber: 7, at: 1_000, source: '/v1/sessions/s.1', request: null },
);
const opened = (retryMs = 3_600_000): DeliveryState =>
  openDelivery(
    {
      id: deliveryId('s.1', 0, 7),
      webhook: { url: 'https://hooks.example.com/a-token?key=1', secretEnv: null, reach: 'public', retryMs },
      event,
    },
    1_000,
  );
const at = (now: number) => ({ at: now - 5, now, random: 0.5 });

describe('a delivery', () => {
  test('is tried at once', () => {
    expect(opened()).toMatchObject({ state: 'pending', nextAttemptAt: 1_000, attemptsMade: 0 });
  });

  test('that is taken is delivered, and has no next attempt', () => {
    const after = afterAttempt(opened(), answered(204), at(2_000));
    expect(after).toMatchObject({ state: 'delivered', nextAttemptAt: null, endedAt: 2_000 });
    expect(deliveryStatus(after)).toMatchObject({
      state: 'delivered',
      attempts_made: 1,
      attempts: [{ number: 1, http_status: 204, outcome: 'delivered', took_ms: 5 }],
      ended_at: '1970-01-01T00:00:02.000Z',
    });
  });

  test('that is put off is tried again later, and later still', () => {
    const once = afterAttempt(opened(), answered(500), at(2_000));
    expect(once).toMatchObject({ state: 'pending', nextAttemptAt: 3_000 });
    expect(afterAttempt(once, answered(null), at(3_000))).toMatchObject({ state: 'pending', nextAttemptAt: 5_000 });
  });

  test('waits as long as it is asked to, and never less than its own wait', () => {
    expect(afterAttempt(opened(), answered(429, { retryAfterMs: 60_000 }), at(2_000)).nextAttemptAt).toBe(62_000);
    expect(afterAttempt(opened(), answered(503, { retryAfterMs: 0 }), at(2_000)).nextAttemptAt).toBe(3_000);
  });

  test.each([
    ['is refused for good', answered(410), 'answered 410; given up after 1 attempt'],
    [
      'is asked to wait beyond its time',
      answered(503, { retryAfterMs: 4e6 }),
      'answered 503; given up after 1 attempt',
    ],
  ])('that %s is dead, and says why', (_, outcome, detail) => {
    const after = afterAttempt(opened(), outcome, at(2_000));
    expect(deliveryStatus(after)).toMatchObject({ state: 'dead', next_attempt_at: null, detail });
  });

  test('begins no attempt after its time, and one at its very end', () => {
    const one = afterAttempt(opened(2_000), answered(500), at(2_000));
    expect(one).toMatchObject({ state: 'pending', nextAttemptAt: 3_000 });
    expect(afterAttempt(one, answered(500), at(3_000))).toMatchObject({ state: 'dead', endedAt: 3_000 });
    expect(afterAttempt(opened(0), answered(500), at(2_000)).state).toBe('dead');
  });

  test('remembers its last 50 attempts and counts all', () => {
    let delivery = opened(1e12);
    for (let count = 0; count < 60; count += 1) delivery = afterAttempt(delivery, answered(500), at(2_000 + count));
    const { attempts, attempts_made: made } = deliveryStatus(delivery);
    expect([attempts.length, attempts[0]?.number, made]).toEqual([50, 11, 60]);
  });

  test('never shows more of the URL than its origin', () => {
    expect(JSON.stringify(deliveryStatus(opened()))).not.toMatch(/token|key=/);
    expect(deliveryStatus(opened()).target).toBe('https://hooks.example.com');
  });
});

describe('an event', () => {
  test('is a CloudEvent about the work', () => {
    expect(event).toMatchObject({
      specversion: '1.0',
      id: 's:1:7',
      source: '/v1/sessions/s.1',
      type: 'parley.session.completed',
      subject: 's.1',
      time: '1970-01-01T00:00:01.000Z',
      data: { id: 's.1', tenant: 'acme', event_id: 7, state: 'COMPLETE', feedback_request: null },
    });
  });

  test('tells who is asked for what, but not the question', () => {
    const request = {
      request_id: 'fr-20260101-000000',
      type: 'approval' as const,
      prompt: 'a secret plan',
      options: [],
      phase: null,
      step: 's1',
      digest: null,
      opened_at: '2026-01-01T00:00:00.000Z',
      expires_at: null,
      on_timeout: null,
    };
    const told = webhookEvent(
      { ...(event.data as ToldStatus) },
      {
        name: 'awaiting_feedback',
        eventNumber: 3,
        at: 0,
        source: '/v1/debates/d',
        request,
      },
    );
    expect(told.data.feedback_request).toMatchObject({ request_id: 'fr-20260101-000000', step: 's1' });
    expect(JSON.stringify(told)).not.toContain('secret plan');
  });

  test('has an id without a full stop, that no other work or event has', () => {
    const ids = ['a', 'a.1', 'a.1.1', 'a-1'].flatMap((work) => [1, 11, 111].map((number) => eventIdOf(work, number)));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => id.includes('.'))).toEqual([]);
  });

  test.each([
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['cancelled', 'cancelled'],
  ])('of an end that is %s is %s', (lifecycle, name) => expect(endName(lifecycle)).toBe(name));
});

describe('an origin', () => {
  test.each([
    ['https://hooks.example.com/services/T0/B0/x', 'https://hooks.example.com'],
    ['http://127.0.0.1:8080?token=x', 'http://127.0.0.1:8080'],
    ['http://[::1]:80#x', 'http://[::1]:80'],
    ['', ''],
  ])('of %s is %s', (url, origin) => expect(originOf(url)).toBe(origin));
});
