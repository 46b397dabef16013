import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { WebhookItem, WebhookList, WebhookState, WebhookStatus } from '../../src/contracts/webhook.js';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { aFanOut, anAgent, aTask } from '../support/fan-out-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { aRun, asks } from '../support/run-bodies.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { runCli } from '../support/run-cli.js';
import { fails, says, silent } from '../support/session-bodies.js';
import { type Received, type Receiver, startReceiver } from '../support/webhook-receiver.js';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const scratch = mkdtempSync(join(tmpdir(), 'parley-told-'));
let product: Product;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  product = await startProduct({ PARLEY_WEBHOOK_SECRET_TEST: secret });
});
beforeEach(() => receiver.answers.splice(0));
afterAll(async () => {
  await product?.stop();
  await receiver?.close();
  removeWorkspaces();
  rmSync(scratch, { recursive: true, force: true });
});

let count = 0;
const newId = (): string => `told-${Date.now()}-${(count += 1)}`;
/** Its own: deliveries of other tests stand in the same namespace. */
const tenant = 'told';
const hook = (over: object = {}) => ({ url: `${receiver.url}/in/a-token-0?key=k-1`, ...over });
const aSession = (over: object = {}) => ({
  ...{ id: newId(), tenant, prompt: 'Which?', lanes: [says('a', 'blue')] },
  ...over,
});
const typesOf = (received: Received[]): string[] => received.map(({ event }) => event.type);

const deliveries = async (query = ''): Promise<WebhookItem[]> =>
  ((await product.get(`/v1/webhooks?limit=200&tenant=${tenant}${query}`)).body as WebhookList).items;
const polled = async <T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> => {
  const deadline = Date.now() + 25_000;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`not reached: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
const status = async (id: string): Promise<WebhookStatus> => (await product.get(`/v1/webhooks/${id}`)).body;
/** The deliveries of one piece of work, once they are in a state that is looked for. Visibility follows after a moment. */
const ofWork = (workId: string, state: WebhookState, most = 1): Promise<WebhookItem[]> =>
  polled(
    async () => (await deliveries(`&state=${state}`)).filter(({ work_id }) => work_id === workId),
    (items) => items.length >= most,
  );

describe('who is named by work', () => {
  test('is told once that a session is complete, signed, and finds the rest by what it was told', async () => {
    const body = aSession({ webhooks: [hook({ secret: { env: 'PARLEY_WEBHOOK_SECRET_TEST' } })] });
    const ended = await product.run(body);
    const [got] = await receiver.until(body.id, 1);
    expect(new Webhook(secret).verify(got!.body, got!.headers as Record<string, string>)).toEqual(got!.event);
    expect(got!.path).toBe('/in/a-token-0?key=k-1');
    expect(got!.event).toMatchObject({
      id: got!.headers['webhook-id'],
      type: 'parley.session.completed',
      source: `/v1/sessions/${body.id}`,
      subject: body.id,
      data: { id: body.id, tenant, lifecycle: 'completed', state: 'COMPLETE', error: null },
    });
    expect((await product.get(got!.event.source)).body).toMatchObject({ result: ended.result });
    const [item] = await ofWork(body.id, 'delivered');
    expect(item).toMatchObject({
      id: expect.stringMatching(`^${body.id}:webhook:0:\\d+$`),
      type: 'parley.session.completed',
      target: receiver.url,
      attempts: 1,
      detail: 'taken (204)',
    });
    expect(item!.id.split(':').at(-1)).toBe(String(got!.event.data.event_id));
    expect(receiver.about(body.id)).toHaveLength(1);
  });

  test('is told of every kind of end', async () => {
    const failed = aSession({ lanes: [fails('a')], webhooks: [hook()] });
    const cancelled = aSession({ lanes: [silent('a')], webhooks: [hook()] });
    await product.run(failed);
    await product.start(cancelled);
    await product.post(`/v1/sessions/${cancelled.id}/cancel`);
    const [ofFailed] = await receiver.until(failed.id, 1);
    expect(ofFailed!.event).toMatchObject({
      type: 'parley.session.failed',
      data: { lifecycle: 'failed', error: { code: expect.any(String), message: expect.any(String) } },
    });
    expect(typesOf(await receiver.until(cancelled.id, 1))).toEqual(['parley.session.cancelled']);
  });

  test('is told of fan-outs and refinements', async () => {
    const [fanOut, refinement] = [newId(), newId()];
    await product.fanOuts.start({
      ...aFanOut({ agents: [anAgent('a')], fan_out: { tasks: [aTask('t1')] } }),
      id: fanOut,
      webhooks: [hook()],
    });
    await product.refinements.start({ ...aRefinement(), id: refinement, webhooks: [hook()] });
    expect(typesOf(await receiver.until(fanOut, 1))).toEqual(['parley.fan-out.completed']);
    expect(typesOf(await receiver.until(refinement, 1))).toEqual(['parley.refinement.completed']);
  });

  test('is told when a person is awaited, without the question, and when it ends', async () => {
    const id = newId();
    const gated = { required: true, timeout_ms: 60_000 };
    await product.debates.start({
      ...aDebate({ says: { solution: [proposes(sh('t', 'true'))] }, approval: gated }),
      id,
      webhooks: [hook(), hook({ url: `${receiver.url}/ends`, events: ['completed'] })],
    });
    const [asked] = await receiver.until(id, 1);
    const { feedback } = await product.debates.status(id);
    const { request_id, prompt } = feedback.at(-1)!.request;
    expect(asked!.event).toMatchObject({
      type: 'parley.debate.awaiting_feedback',
      data: { lifecycle: 'waiting', waiting: { for: 'person' }, feedback_request: { request_id, type: 'approval' } },
    });
    expect(asked!.body).not.toContain(prompt.split('\n')[0]);
    await product.post(`/v1/debates/${id}/feedback`, { request_id, response: 'reject', provided_by: 'anna' });
    const all = await receiver.until(id, 3);
    expect(typesOf(all).slice(1)).toEqual(['parley.debate.completed', 'parley.debate.completed']);
    // One event for two receivers has one id.
    expect(all[1]!.event.id).toBe(all[2]!.event.id);
    expect(all[0]!.event.id).not.toBe(all[1]!.event.id);
    expect(all[1]!.event.data.event_id).toBeGreaterThan(all[0]!.event.data.event_id);
  });

  test('is told when a run asks, when it stops over a failure, and when it ends', async () => {
    const id = newId();
    const failing = { name: 'try', kind: 'command' as const, with: { argv: ['false'] } };
    await product.runs.start({ ...aRun([asks('sure'), failing]), id, webhooks: [hook()] });
    const answerWith = async (response: string, requests: number): Promise<void> => {
      const { feedback } = await product.runs.until(
        id,
        (run) => run.feedback.length === requests && run.waiting !== null,
      );
      const { request_id } = feedback.at(-1)!.request;
      await product.post(`/v1/runs/${id}/feedback`, { request_id, response, provided_by: 'anna' });
    };
    const [asked] = await receiver.until(id, 1);
    expect(asked!.event).toMatchObject({
      type: 'parley.run.awaiting_feedback',
      source: `/v1/runs/${id}`,
      data: { state: 'awaiting_feedback', waiting: { for: 'person' }, feedback_request: { type: 'approval' } },
    });
    await answerWith('approve', 1);
    const [, stopped] = await receiver.until(id, 2);
    expect(stopped!.event).toMatchObject({
      type: 'parley.run.awaiting_feedback',
      data: { state: 'error', error: { code: expect.any(String) }, feedback_request: { type: 'error_resolution' } },
    });
    await answerWith('abort', 2);
    const all = await receiver.until(id, 3);
    expect(all[2]!.event).toMatchObject({ type: 'parley.run.cancelled', data: { lifecycle: 'cancelled' } });
    expect(new Set(all.map(({ event }) => event.id)).size).toBe(3);
  });

  test('hears of nothing else than what it asked for', async () => {
    const quiet = aSession({ webhooks: [hook({ events: ['failed', 'cancelled'] }), hook({ events: ['completed'] })] });
    await product.run(quiet);
    await receiver.until(quiet.id, 1);
    const told = await ofWork(quiet.id, 'delivered');
    expect(told.map(({ id }) => id.split(':')[2])).toEqual(['1']);
    expect(receiver.about(quiet.id)).toHaveLength(1);
  });
});

describe('the metrics of a worker', () => {
  /** The value of a counter, as /metrics tells it now. */
  const counted = async (name: string): Promise<number> => {
    const text = await (await fetch(`${product.url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  };

  test('count attempts by what they came to, and what was delivered or is dead', async () => {
    const names = [
      'parley_webhook_attempts_total{outcome="failed"}',
      'parley_webhook_attempts_total{outcome="delivered"}',
      'parley_webhook_deliveries_total{state="delivered"}',
      'parley_webhook_deliveries_total{state="dead"}',
    ];
    const before = await Promise.all(names.map(counted));
    receiver.answers.push({ status: 503 }, { status: 204 });
    const taken = aSession({ webhooks: [hook()] });
    await product.run(taken);
    await ofWork(taken.id, 'delivered');
    receiver.answers.splice(0, receiver.answers.length, { status: 410 });
    const refused = aSession({ webhooks: [hook()] });
    await product.run(refused);
    await ofWork(refused.id, 'dead');
    const after = await Promise.all(names.map(counted));
    const [failed, taken204, ...ended] = after.map((value, index) => value - before[index]!);
    expect([failed, taken204]).toEqual([2, 1]);
    // At least: the end of a delivery is told again where Temporal tries its last task again.
    for (const ends of ended) expect(ends).toBeGreaterThanOrEqual(1);
  });
});

describe('work that goes back and ends again', () => {
  test('tells of the second end too, as an event of its own', async () => {
    const body = aSession({ webhooks: [hook()] });
    await product.run(body);
    await receiver.until(body.id, 1);
    const restored = await product.post(`/v1/sessions/${body.id}/restore`, { checkpoint: 0, reason: 'once more' });
    expect(restored.status).toBe(202);
    const [first, second] = await receiver.until(body.id, 2);
    expect(second!.event.type).toBe('parley.session.completed');
    expect(second!.event.data.event_id).toBeGreaterThan(first!.event.data.event_id);
    expect(second!.event.id).not.toBe(first!.event.id);
  });
});

describe('work that Temporal resets to before its end', () => {
  test('tells of the same end once', async () => {
    const body = aSession({ webhooks: [hook()] });
    await product.run(body);
    await receiver.until(body.id, 1);
    const handle = product.client.workflow.getHandle(body.id);
    const { events = [] } = await handle.fetchHistory();
    const told = events?.find((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
    const { runId } = await handle.describe();
    await product.client.workflowService.resetWorkflowExecution({
      namespace: product.client.options.namespace,
      workflowExecution: { workflowId: body.id, runId },
      reason: 'a test',
      workflowTaskFinishEventId:
        told?.startChildWorkflowExecutionInitiatedEventAttributes?.workflowTaskCompletedEventId ?? null,
      requestId: body.id,
    });
    const after = product.client.workflow.getHandle(body.id);
    await after.result();
    expect((await after.describe()).runId).not.toBe(runId);
    const again = await after.fetchHistory();
    expect(again.events?.some((event) => event.startChildWorkflowExecutionFailedEventAttributes)).toBe(true);
    // What is told later has come, and nothing more of this.
    const later = aSession({ webhooks: [hook()] });
    await product.run(later);
    await receiver.until(later.id, 1);
    expect(receiver.about(body.id)).toHaveLength(1);
  });
});

describe('a receiver', () => {
  test('that answers 500 is tried again with the same id and event, and a new time', async () => {
    receiver.answers.push({ status: 500 }, { status: 503, headers: { 'retry-after': '1' } }, { status: 200 });
    const body = aSession({ webhooks: [hook({ secret: { env: 'PARLEY_WEBHOOK_SECRET_TEST' } })] });
    await product.run(body);
    const got = await receiver.until(body.id, 3);
    expect(new Set(got.map(({ body: text }) => text)).size).toBe(1);
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { body: text, headers } of got)
      expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toBeTruthy();
    const [item] = await ofWork(body.id, 'delivered');
    expect((await status(item!.id)).attempts.map(({ http_status, outcome }) => [http_status, outcome])).toEqual([
      [500, 'failed'],
      [503, 'failed'],
      [200, 'delivered'],
    ]);
  });

  test('that is away keeps its delivery pending, with the time of the next attempt, and nobody else waits for it', async () => {
    const gone = await startReceiver();
    gone.answers.push('gone');
    const body = aSession({ webhooks: [{ url: gone.url }, hook()] });
    await product.run(body);
    await receiver.until(body.id, 1);
    // For a moment, the delivery that the other receiver has taken is listed as pending too.
    const [item] = await polled(
      async () => (await ofWork(body.id, 'pending')).filter(({ target }) => target === gone.url),
      (items) => items.length > 0,
    );
    const pending = await polled(
      () => status(item!.id),
      ({ attempts_made: made }) => made >= 1,
    );
    expect(pending).toMatchObject({
      state: 'pending',
      ended_at: null,
      detail: expect.stringMatching(/other side closed|ECONNRESET/),
    });
    const refused = await product.post(`/v1/webhooks/${item!.id}/redeliver`);
    expect([refused.status, (refused.body as { code: string }).code]).toEqual([409, 'wrong_state']);
    // It comes back, and gets what it has missed.
    const missed = gone.about(body.id).length;
    gone.answers.splice(0);
    const [got] = (await gone.until(body.id, missed + 1)).slice(missed);
    expect(got!.event.id).toBe(pending.event_id);
    await gone.close();
  });

  test.each([
    [410, /^answered 410: it wants no more of this; given up after 1 attempt$/],
    [404, /^answered 404; given up after 1 attempt$/],
    [302, /^answered 302: redirects are not followed; .*; given up after 1 attempt$/],
  ])('that answers %i is given up, listed as dead, and served when somebody asks for it', async (code, detail) => {
    receiver.answers.push({ status: code, headers: { location: `${receiver.url}/elsewhere` } });
    const body = aSession({ webhooks: [hook()] });
    await product.run(body);
    const [dead] = await ofWork(body.id, 'dead');
    expect(dead).toMatchObject({ state: 'dead', attempts: 1, detail: expect.stringMatching(detail) });
    expect(receiver.about(body.id)).toHaveLength(1);

    receiver.answers.splice(0);
    const again = await product.post(`/v1/webhooks/${dead!.id}/redeliver`);
    expect([again.status, again.body]).toEqual([202, { id: dead!.id }]);
    const [first, second] = await receiver.until(body.id, 2);
    expect([second!.body, second!.headers['webhook-id']]).toEqual([first!.body, first!.headers['webhook-id']]);
    const [delivered] = await ofWork(body.id, 'delivered');
    expect(delivered!.id).toBe(dead!.id);
    await polled(
      () => deliveries('&state=dead'),
      (items) => !items.some(({ work_id }) => work_id === body.id),
    );
    expect((await deliveries()).filter(({ work_id }) => work_id === body.id)).toHaveLength(1);
  });
});

describe('what is a secret', () => {
  test('stands in no status, event, list, delivery or export, and an export replays', async () => {
    const body = aSession({ webhooks: [hook({ secret: { env: 'PARLEY_WEBHOOK_SECRET_TEST' } })] });
    await product.run(body);
    await receiver.until(body.id, 1);
    const [item] = await ofWork(body.id, 'delivered');
    const texts = await Promise.all(
      [
        `/v1/sessions/${body.id}`,
        `/v1/sessions/${body.id}/export`,
        `/v1/webhooks?tenant=${tenant}`,
        `/v1/webhooks/${item!.id}`,
      ].map(async (path) => JSON.stringify((await product.get(path)).body)),
    );
    texts.push(receiver.about(body.id)[0]!.body);
    const { events } = await product.client.workflow.getHandle(item!.id).fetchHistory();
    expect(JSON.stringify(events)).not.toContain(secret);
    for (const text of texts) {
      expect(text).not.toContain(secret);
      expect(text).not.toMatch(/a-token-0|k-1/);
    }
    const file = join(scratch, 'told.json');
    writeFileSync(file, texts[1] ?? '');
    const { code, out } = await runCli({}, ['replay', file, '--bundle', process.env['TEST_WORKFLOW_BUNDLE'] ?? '']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^same: /)]);
  });
});

describe('where there are keys, and a second for a delivery,', () => {
  const keys = { acme: 'a-key-of-acme-0123', other: 'a-key-of-other-012' };
  let closed: Product;
  beforeAll(async () => {
    closed = await startProduct({
      PARLEY_API_KEYS: JSON.stringify(
        Object.entries(keys).map(([tenant, key]) => ({ name: `of-${tenant}`, key, tenant, role: 'operator' })),
      ),
      PARLEY_WEBHOOK_HOSTS: '127.0.0.1',
      PARLEY_WEBHOOK_RETRY_SECONDS: '1',
    });
  });
  afterAll(() => closed?.stop());
  const call = async (key: string, path: string, method = 'GET') => {
    const answer = await fetch(closed.url + path, { method, headers: { authorization: `Bearer ${key}` } });
    return { status: answer.status, body: (await answer.json()) as never };
  };
  const listOf = async (key: string, workId: string): Promise<WebhookItem[]> =>
    ((await call(key, '/v1/webhooks?limit=200')).body as WebhookList).items.filter(({ work_id }) => work_id === workId);
  const tell = async (): Promise<string> => {
    const body = aSession({ tenant: 'acme', webhooks: [hook()] });
    const headers = { authorization: `Bearer ${keys.acme}` };
    expect((await closed.post('/v1/sessions?wait=20', body, headers)).status).toBe(200);
    return body.id;
  };

  test('a delivery of another tenant is not there', async () => {
    const workId = await tell();
    await receiver.until(workId, 1);
    const [item] = await polled(
      () => listOf(keys.acme, workId),
      (items) => items.length > 0,
    );
    const { id } = item!;
    expect(await listOf(keys.other, workId)).toEqual([]);
    expect((await call(keys.acme, `/v1/webhooks/${id}`)).status).toBe(200);
    expect((await call(keys.other, `/v1/webhooks/${id}`)).status).toBe(404);
    expect((await call(keys.other, `/v1/webhooks/${id}/redeliver`, 'POST')).status).toBe(404);
  });

  test('a receiver whose time is over is given up', async () => {
    receiver.answers.push({ status: 500 });
    const workId = await tell();
    const [item] = await polled(
      () => listOf(keys.acme, workId),
      ([dead]) => dead?.state === 'dead',
    );
    expect(item!.detail).toMatch(/^answered 500; given up after \d attempts?$/);
  });
});

describe('what is asked for and is not there', () => {
  test.each([
    ['/v1/webhooks/nobody', 404],
    ['/v1/webhooks/nobody:webhook:0:1', 404],
    ['/v1/webhooks?state=lost', 422],
    ['/v1/webhooks?cursor=xyz', 422],
    ['/v1/webhooks?limit=0', 422],
  ])('%s: %i', async (path, code) => {
    const { status: answered, headers } = await product.get(path);
    expect([answered, headers.get('content-type')]).toEqual([
      code,
      expect.stringContaining('application/problem+json'),
    ]);
  });

  test('work is none, and a delivery is no work', async () => {
    const body = aSession({ webhooks: [hook()] });
    await product.run(body);
    const [item] = await ofWork(body.id, 'delivered');
    expect((await product.get(`/v1/webhooks/${body.id}`)).status).toBe(404);
    expect((await product.get(`/v1/sessions/${item!.id}`)).status).toBe(404);
    const work = (await product.get('/v1/work?limit=200')).body as { items: { id: string }[] };
    expect(work.items.filter(({ id }) => id.includes(':webhook:'))).toEqual([]);
  });
});

describe('parley webhooks', () => {
  const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, ['webhooks', ...argv]);

  test('lists, shows and redelivers', async () => {
    receiver.answers.push({ status: 404 });
    const body = aSession({ webhooks: [hook()] });
    await product.run(body);
    const [{ id } = { id: '' }] = await ofWork(body.id, 'dead');
    const listed = await parley('list', '--state', 'dead', '--all');
    expect([listed.code, listed.out]).toEqual([
      0,
      expect.stringContaining(`parley.session.completed to ${receiver.url}: answered 404; given up after 1 attempt`),
    ]);
    expect((JSON.parse((await parley('list', '--json')).out) as WebhookList).items.length).toBeGreaterThan(0);
    const shown = await parley('show', id);
    expect(shown.out).toMatch(/dead\n {2}parley\.session\.completed to .*, not signed\n {2}attempt 1 .* answered 404$/);
    receiver.answers.splice(0);
    expect(await parley('redeliver', id)).toMatchObject({ code: 0, out: `${id} is delivered again` });
    await receiver.until(body.id, 2);
    expect((await parley('list', '--state', 'lost')).code).toBe(2);
    const missing = await parley('redeliver', 'nobody');
    expect([missing.code, missing.notes]).toEqual([2, expect.stringContaining('There is no webhook nobody')]);
  });
});
