import { randomBytes } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { createWebhookSender, type SenderOptions, type WebhookSender } from '../../../activities/webhooks/sender.js';
import { signingKeys } from '../../../activities/webhooks/signature.js';
import type { WebhookDelivery } from '../../../src/domain/webhook/setup.js';
import { type Answer, type Receiver, startReceiver } from '../../support/webhook-receiver.js';

const secretOf = (bytes = 32): string => `whsec_${randomBytes(bytes).toString('base64')}`;
const [one, other] = [secretOf(), secretOf()];
const environment = {
  PARLEY_WEBHOOK_SECRET: one,
  PARLEY_WEBHOOK_SECRET_BOTH: `${one} ${other}`,
  PARLEY_WEBHOOK_SECRET_EMPTY: '',
  PARLEY_WEBHOOK_SECRET_PLAIN: 'my password',
  PARLEY_WEBHOOK_SECRET_SHORT: secretOf(8),
};

let receiver: Receiver;
let elsewhere: Receiver;
const senders: WebhookSender[] = [];
const senderOf = (over: Partial<SenderOptions> = {}): WebhookSender => {
  const sender = createWebhookSender({ environment, now: Date.now, ...over });
  senders.push(sender);
  return sender;
};
beforeAll(async () => {
  receiver = await startReceiver();
  elsewhere = await startReceiver();
});
beforeEach(() => {
  for (const each of [receiver, elsewhere]) {
    each.received.length = 0;
    each.answers.length = 0;
  }
});
afterAll(async () => {
  for (const sender of senders) await sender.close();
  await receiver?.close();
  await elsewhere?.close();
});

const event: WebhookDelivery['event'] = {
  specversion: '1.0',
  id: 's:7',
  source: '/v1/sessions/s',
  type: 'parley.session.completed',
  subject: 's',
  time: '2026-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  data: {
    id: 's',
    kind: 'session',
    tenant: 'default',
    event_id: 7,
    lifecycle: 'completed',
    state: 'COMPLETE — ÜÄ €',
    waiting: null,
    error: null,
    spend: { tokens: 0, usd: '0' },
    started_at: '2026-01-01T00:00:00.000Z',
    ended_at: null,
    feedback_request: null,
  },
};
const never = new AbortController().signal;
const send = (sender: WebhookSender, over: Partial<WebhookDelivery['webhook']> = {}) =>
  sender.send(
    { webhook: { url: `${receiver.url}/hook?x=1`, secretEnv: null, reach: 'local', retryMs: 0, ...over }, event },
    never,
  );
const headersOf = ({ headers }: { headers: object }) => headers as Record<string, string>;

describe('an attempt', () => {
  test('posts the event as a CloudEvent, with the id and the time of Standard Webhooks', async () => {
    const before = Math.floor(Date.now() / 1_000);
    expect(await send(senderOf())).toMatchObject({ httpStatus: 204, isRefused: false, retryAfterMs: null });
    const [got] = receiver.received;
    expect(got).toMatchObject({ method: 'POST', path: '/hook?x=1', event });
    const headers = headersOf(got!);
    expect(headers).toMatchObject({
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'webhook-id': 's:7',
    });
    expect(Number(headers['webhook-timestamp'])).toBeGreaterThanOrEqual(before);
    expect(headers['webhook-signature']).toBeUndefined();
  });

  test('is signed so that another’s code verifies it, and nothing else', async () => {
    await send(senderOf(), { secretEnv: 'PARLEY_WEBHOOK_SECRET' });
    const [got] = receiver.received;
    expect(new Webhook(one).verify(got!.body, headersOf(got!))).toEqual(event);
    expect(() => new Webhook(other).verify(got!.body, headersOf(got!))).toThrow(/signature/i);
    expect(() => new Webhook(one).verify(`${got!.body} `, headersOf(got!))).toThrow(/signature/i);
    expect(() => new Webhook(one).verify(got!.body, { ...headersOf(got!), 'webhook-id': 's:8' })).toThrow(/signature/i);
  });

  test('is signed with both secrets while one takes the place of the other', async () => {
    await send(senderOf(), { secretEnv: 'PARLEY_WEBHOOK_SECRET_BOTH' });
    const [got] = receiver.received;
    for (const secret of [one, other]) expect(new Webhook(secret).verify(got!.body, headersOf(got!))).toEqual(event);
  });

  test.each([
    ['PARLEY_WEBHOOK_SECRET_NONE', /no PARLEY_WEBHOOK_SECRET_NONE to sign with/],
    ['PARLEY_WEBHOOK_SECRET_EMPTY', /no PARLEY_WEBHOOK_SECRET_EMPTY to sign with/],
    ['PARLEY_WEBHOOK_SECRET_PLAIN', /must be whsec_ and 24 to 64 bytes/],
    ['PARLEY_WEBHOOK_SECRET_SHORT', /must be whsec_ and 24 to 64 bytes/],
  ])('that cannot be signed with %s is not sent, and may be later', async (secretEnv, detail) => {
    const outcome = await send(senderOf(), { secretEnv });
    expect(outcome).toMatchObject({ httpStatus: null, isRefused: false, detail: expect.stringMatching(detail) });
    expect(outcome.detail).not.toContain('my password');
    expect(receiver.received).toEqual([]);
  });

  test.each<[Answer, object]>([
    [{ status: 500 }, { httpStatus: 500, detail: 'answered 500' }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { httpStatus: 429, retryAfterMs: 7_000 },
    ],
    [
      { status: 503, headers: { 'retry-after': 'soon' } },
      { httpStatus: 503, retryAfterMs: null },
    ],
    [{ status: 410 }, { httpStatus: 410, detail: 'answered 410: it wants no more of this' }],
  ])('that is answered by %j says so', async (answer, outcome) => {
    receiver.answers.push(answer);
    expect(await send(senderOf())).toMatchObject(outcome);
  });

  test('reads a Retry-After that is a date', async () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    receiver.answers.push({ status: 503, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' } });
    expect(await send(senderOf({ now: () => now }))).toMatchObject({ retryAfterMs: 60_000 });
  });

  test.each([301, 302, 303, 307, 308])('does not follow a redirect by %i', async (status) => {
    receiver.answers.push({ status, headers: { location: `${elsewhere.url}/taken` } });
    expect(await send(senderOf())).toMatchObject({
      httpStatus: status,
      detail: expect.stringContaining('redirects are not followed'),
    });
    expect(elsewhere.received).toEqual([]);
  });

  test('ends when the receiver is silent for too long', async () => {
    receiver.answers.push('silence');
    expect(await send(senderOf({ timeoutMs: 200 }))).toMatchObject({
      httpStatus: null,
      isRefused: false,
      detail: 'no answer within 200 ms',
    });
  });

  test('says that nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    expect(await send(senderOf(), { url: `http://127.0.0.1:${port}/` })).toMatchObject({
      httpStatus: null,
      isRefused: false,
      detail: expect.stringMatching(/^no answer: .*ECONNREFUSED/),
    });
  });

  test('is stopped by who asked for it, and then has no outcome', async () => {
    receiver.answers.push('silence');
    const stop = new AbortController();
    const webhook = { url: receiver.url, secretEnv: null, reach: 'local' as const, retryMs: 0 };
    const sent = senderOf().send({ webhook, event }, stop.signal);
    await receiver.until('s', 1);
    stop.abort();
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a target that may not be reached gets nothing', () => {
  /** Answers each question about a name with the next of `answers`. */
  const resolving = (asked: string[], ...answers: string[][]) =>
    ((name: string, _: object, done: (error: null, addresses: LookupAddress[]) => void) => {
      asked.push(name);
      const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    }) as unknown as NonNullable<SenderOptions['resolve']>;
  const named = (): string => `http://hooks.test:${receiver.port}/`;
  const refused = { httpStatus: null, isRefused: true, detail: expect.stringContaining('PARLEY_WEBHOOK_HOSTS') };

  test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0'])('by the address %s', async (host) => {
    const url = `http://${host}:${receiver.port}/`;
    expect(await send(senderOf(), { url, reach: 'public' })).toMatchObject(refused);
    expect(receiver.received).toEqual([]);
  });

  test.each([[['127.0.0.1']], [['::1', '10.0.0.1']], [['::ffff:127.0.0.1']], [['169.254.169.254']]])(
    'by a name that stands for %j',
    async (addresses) => {
      const sender = senderOf({ resolve: resolving([], addresses) });
      expect(await send(sender, { url: named(), reach: 'public' })).toMatchObject(refused);
      expect(receiver.received).toEqual([]);
    },
  );

  test('and a link-local one not even from a gateway of one machine', async () => {
    const sender = senderOf({ resolve: resolving([], ['169.254.169.254', 'fe80::1']) });
    expect(await send(sender, { url: named() })).toMatchObject(refused);
  });

  test('by a name that stands for another address at the next question: what was checked is what is connected to', async () => {
    const asked: string[] = [];
    // Of several addresses the allowed ones alone are tried.
    const sender = senderOf({ resolve: resolving(asked, ['169.254.169.254', '127.0.0.1'], ['169.254.169.254']) });
    expect(await send(sender, { url: named() })).toMatchObject({ httpStatus: 204 });
    expect(asked).toEqual(['hooks.test']);
    expect(receiver.received).toHaveLength(1);
  });

  test('by a connection that another delivery was allowed', async () => {
    const sender = senderOf({ resolve: resolving([], ['127.0.0.1']) });
    expect(await send(sender, { url: named(), reach: 'local' })).toMatchObject({ httpStatus: 204 });
    expect(await send(sender, { url: named(), reach: 'public' })).toMatchObject(refused);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a secret', () => {
  test.each<[string, number[] | null]>([
    [secretOf(24), [24]],
    [secretOf(64), [64]],
    [` ${secretOf(32)}  ${secretOf(24)} `, [32, 24]],
    [secretOf(23), null],
    [secretOf(65), null],
    ['whsec_', null],
    ['whsec_not base64!', null],
    [secretOf().slice('whsec_'.length), null],
    [`${secretOf()} password`, null],
    ['', null],
  ])('of case %# has keys of so many bytes', (secret, lengths) => {
    expect(signingKeys(secret)?.map(({ length }) => length) ?? null).toEqual(lengths);
  });
});
