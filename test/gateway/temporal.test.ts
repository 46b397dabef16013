import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createParser } from 'eventsource-parser';
import { createLink } from '../../activities/link.js';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import type { SessionStarted } from '../../src/contracts/session-status.js';
import { eventsQuery } from '../../workflows/messages.js';
import { createSessionsClient } from '../../temporal/sessions-client.js';
import { startProduct, type Product } from '../support/product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 60_000);
afterAll(async () => await product?.stop());

const quick = (over: Partial<OpenSessionBody> = {}): OpenSessionBody => ({
  prompt: 'Which colour?',
  lanes: [
    {
      lane_id: 'a',
      adapter: {
        kind: 'scripted',
        script: [
          { after_ms: 5, partial: 'bl' },
          { after_ms: 5, final: 'blue' },
        ],
      },
    },
  ],
  ...over,
});
const external = (): OpenSessionBody => ({
  prompt: 'Which colour?',
  lanes: [{ lane_id: 'e', adapter: { kind: 'external' } }],
});
const newId = (): string => `s-${randomUUID()}`;

interface Heard {
  event: string | undefined;
  id: number | null;
  data: unknown;
}

/** Follows until the end, or until `enough` says so, which drops the connection as a failing network would. */
const follow = async (
  id: string,
  since: number,
  enough: (heard: Heard[]) => boolean = () => false,
): Promise<Heard[]> => {
  const response = await fetch(`${product.url}/v1/sessions/${id}/events`, {
    headers: { 'Last-Event-ID': String(since) },
  });
  const heard: Heard[] = [];
  const parser = createParser({
    onEvent: ({ event, id: number, data }) =>
      heard.push({ event, id: number === undefined ? null : Number(number), data: JSON.parse(data) }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (enough(heard)) break;
  }
  return heard;
};
const numbers = (heard: Heard[]): number[] => heard.map(({ id }) => id).filter((id) => id !== null);

describe('on Temporal, a session', () => {
  test('gives one run for one id and body, while it runs and after it has ended', async () => {
    const id = newId();
    const first = await product.post('/v1/sessions', quick({ id }));
    const again = await product.post('/v1/sessions', quick({ id }));
    await product.until(id, ({ state }) => state === 'COMPLETE');
    const late = await product.post('/v1/sessions?wait=20', quick({ id }));
    const other = await product.post('/v1/sessions', quick({ id, prompt: 'Which number?' }));
    expect([first.status, again.status, late.status, other.status]).toEqual([202, 202, 200, 409]);
    expect([first, again, late].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([
      null,
      'true',
      'true',
    ]);
  });

  test('answers its result within wait', async () => {
    const { status, body } = await product.post('/v1/sessions?wait=20', quick());
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'COMPLETE', lifecycle: 'completed', result: { answer: 'blue' } });
  });

  test('is merely started when its result is not there within wait', async () => {
    const never = [{ after_ms: 3_600_000, final: 'late' }];
    const body = quick({ lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script: never } }] });
    const { status, body: started } = await product.post('/v1/sessions?wait=0.2', body);
    expect([status, started]).toEqual([202, expect.objectContaining({ kind: 'session' })]);
  });

  test('whose clones make it too large for Temporal is a 422 that says so', async () => {
    const adapter = { kind: 'scripted' as const, script: [{ final: 'x'.repeat(900_000) }] };
    const { status, body } = await product.post(
      '/v1/sessions',
      quick({ lanes: [{ lane_id: 'a', clones: 20, adapter }] }),
    );
    expect([status, body]).toEqual([
      422,
      expect.objectContaining({
        errors: [{ path: '', message: expect.stringMatching(/^must take at most 16777216 bytes once it is prepared/) }],
      }),
    ]);
  });

  test('is not sent again what Temporal does not take of its lanes', async () => {
    const { id } = await product.start(external());
    const text = 'x'.repeat(3_000_000);
    const report = {
      group: 'g',
      attempt: 1,
      seq: 1,
      reports: [{ type: 'PARTIAL' as const, lane: 'e', at: 0, attempt: 1, text }],
    };
    // Without a place for large payloads beside the history.
    const { connection, options } = product.client;
    const plain = new Client({ connection, namespace: options.namespace });
    await expect(createLink(plain).report(id, report)).rejects.toMatchObject({
      type: 'EPROTO',
      nonRetryable: true,
    });
  });

  test('tells its events with numbers without holes, the same to those who come late or break off', async () => {
    const { id } = await product.start(quick());
    const whole = await follow(id, 0);
    expect(numbers(whole)).toEqual(Array.from({ length: numbers(whole).length }, (_, index) => index + 1));
    expect(whole.at(-1)).toEqual({ event: 'end', id: null, data: { state: 'COMPLETE' } });
    expect(whole.filter(({ event }) => event === 'final')).toHaveLength(1);
    const durable = whole.filter((heard) => heard.id !== null);
    for (const since of [0, 1, durable.length - 1, durable.length, 999]) {
      const late = (await follow(id, since)).filter((heard) => heard.id !== null);
      expect(late).toEqual(durable.slice(since));
    }
  });

  test('answers all who ask in its first moment: the server turns none away', async () => {
    // The client's own retries would hide a refusal in a wait of two seconds.
    const connection = await Connection.connect({
      address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
      interceptors: [],
    });
    const { workflow } = new Client({ connection });
    const firsts = [];
    for (let round = 0; round < 10; round += 1) {
      const { id } = await product.start(quick());
      const asked = Array.from({ length: 5 }, () => workflow.getHandle(id).query(eventsQuery, 0));
      firsts.push(...(await Promise.all(asked)).map(({ events }) => events[0]?.id));
    }
    await connection.close();
    expect(firsts).toEqual(Array.from({ length: 50 }, () => 1));
  });

  test('streams the text of a lane without loss or repeats over a dropped connection', async () => {
    const pieces = Array.from({ length: 20 }, (_, index) => `${index} `);
    const script = [...pieces.map((partial) => ({ after_ms: 15, partial })), { after_ms: 1, final: pieces.join('') }];
    const { id } = await product.start(quick({ lanes: [{ lane_id: 'a', adapter: { kind: 'scripted', script } }] }));
    const texts = (heard: Heard[]) =>
      heard.filter(({ event }) => event === 'partial').map(({ data }) => data as { offset: number; text: string });
    const before = await follow(id, 0, (heard) => texts(heard).length >= 3);
    const after = await follow(id, Math.max(0, ...numbers(before)));
    for (const [heard, name] of [
      [before, 'before'],
      [after, 'after'],
    ] as const) {
      let length = 0;
      for (const { offset, text } of texts(heard)) {
        expect([name, offset]).toEqual([name, length]);
        length += text.length;
      }
      expect(
        pieces.join('').startsWith(
          texts(heard)
            .map(({ text }) => text)
            .join(''),
        ),
      ).toBe(true);
    }
    expect([...numbers(before), ...numbers(after)]).toEqual(numbers(await follow(id, 0)));
  });

  test('counts frames once that Temporal puts back after it took them', async () => {
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' });
    const { workflowService } = connection;
    const update = workflowService.updateWorkflowExecution.bind(workflowService);
    let sent = 0;
    Object.assign(workflowService, {
      updateWorkflowExecution: async (request: Parameters<typeof update>[0]) => {
        const response = await update(request);
        sent += 1;
        if (sent > 1) return response;
        throw Object.assign(new Error('put back'), { code: 9, details: 'put back', metadata: new Map() });
      },
    });
    const sessions = createSessionsClient({ client: new Client({ connection }) });
    const { id } = await product.start(external());
    const frames = [{ type: 'partial' as const, msg_seq: 1, frag_seq: 1, last: true, text: 'bl' }];
    const taken = await sessions.frames(id, 'e', frames);
    const repeated = await sessions.frames(id, 'e', frames);
    await connection.close();
    expect([taken.accepted, repeated.accepted, sent]).toEqual([1, 0, 3]);
  });

  test('takes the frames of an external lane with its key, and none after its end', async () => {
    const started: SessionStarted = (await product.post('/v1/sessions', external())).body;
    const key = started.lane_keys?.['e'] ?? '';
    await product.until(started.id, ({ lanes }) => lanes[0]?.state === 'STREAMING');
    const post = (frames: object[]) =>
      product.post(`/v1/sessions/${started.id}/lanes/e/frames`, { frames }, { authorization: `Bearer ${key}` });
    expect((await post([{ type: 'partial', msg_seq: 1, text: 'bl' }])).body).toMatchObject({
      accepted: 1,
      ack: { msg_seq: 1 },
    });
    const heard = follow(started.id, 0, (sofar) => sofar.some(({ event }) => event === 'partial'));
    expect((await heard).find(({ event }) => event === 'partial')?.data).toMatchObject({
      lane_id: 'e',
      offset: 0,
      text: 'bl',
    });
    expect((await post([{ type: 'final', msg_seq: 2, text: 'blue' }])).status).toBe(200);
    await product.until(started.id, ({ state }) => state === 'COMPLETE');
    const late = await post([{ type: 'partial', msg_seq: 3, text: 'x' }]);
    expect(late.status).toBe(409);
    expect(late.body).toMatchObject({ code: 'wrong_state' });
  });

  test('is cancelled at once, and only once', async () => {
    const { id } = await product.start(external());
    const first = await product.post(`/v1/sessions/${id}/cancel`);
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({ state: 'CANCELLED', lifecycle: 'cancelled' }),
    ]);
    const again = await product.post(`/v1/sessions/${id}/cancel`);
    expect([again.status, again.body]).toEqual([409, expect.objectContaining({ code: 'wrong_state' })]);
    expect((await follow(id, 0)).at(-1)?.data).toEqual({ state: 'CANCELLED' });
  });

  test('that was terminated from outside says so, and its stream ends', async () => {
    const { id } = await product.start(external());
    await product.until(id, ({ state }) => state === 'STREAMING');
    const stream = follow(id, 0);
    await product.client.workflow.getHandle(id).terminate('by an operator');
    const { body } = await product.get(`/v1/sessions/${id}`);
    expect(body).toMatchObject({ lifecycle: 'cancelled', error: { code: 'EPREEMPT' } });
    expect((await stream).at(-1)).toMatchObject({ event: 'end' });
    expect((await follow(id, 0)).at(-1)).toMatchObject({ event: 'end', data: { state: 'TERMINATED' } });
  });

  test('that was terminated before a worker began it is a 409 that says so', async () => {
    const id = newId();
    const handle = await product.client.workflow.start('session', { workflowId: id, taskQueue: 'nobody' });
    await handle.terminate();
    for (const path of [`/v1/sessions/${id}`, `/v1/sessions/${id}/events`]) {
      const { status, body } = await product.get(path);
      expect([status, body]).toEqual([
        409,
        expect.objectContaining({ detail: expect.stringContaining('before a worker') }),
      ]);
    }
  });

  test('is listed by tenant, page by page', async () => {
    const tenant = `t-${randomUUID()}`;
    for (let count = 0; count < 3; count += 1) await product.run(quick({ tenant }));
    type List = { items: { id: string; state: string; summary: string }[]; next_cursor: string | null };
    const list = async (query: string): Promise<List> => (await product.get(`/v1/work?tenant=${tenant}${query}`)).body;
    // Visibility follows after a moment.
    let all = await list('&kind=session&state=COMPLETE');
    while (all.items.length < 3) all = await list('&kind=session&state=COMPLETE');
    expect(all.items[0]).toMatchObject({
      state: 'COMPLETE',
      lifecycle: 'completed',
      summary: 'session: Which colour?',
    });
    const first = await list('&limit=2');
    const second = await list(`&limit=2&cursor=${first.next_cursor}`);
    expect([...first.items, ...second.items].map(({ id }) => id).sort()).toEqual(all.items.map(({ id }) => id).sort());
    expect(await list('&state=ERROR')).toEqual({ items: [], next_cursor: null });
  });

  test.each(['bm90IGEgcGFnZQ', '%%%', 'ü'])('a cursor that is none of ours (%s) is a 422', async (cursor) => {
    const { status, body } = await product.get(`/v1/work?cursor=${encodeURIComponent(cursor)}`);
    expect(status).toBe(422);
    expect(body).toMatchObject({ errors: [{ path: 'query.cursor' }] });
  });

  test('is not found where the id is that of another kind of workflow', async () => {
    const id = newId();
    await product.client.workflow.start('other', { workflowId: id, taskQueue: 'nobody' });
    const paths = [`/v1/sessions/${id}`, `/v1/sessions/${id}/events`];
    for (const path of paths) expect((await product.get(path)).status).toBe(404);
    expect((await product.post(`/v1/sessions/${id}/cancel`)).status).toBe(404);
    expect((await product.post('/v1/sessions', quick({ id }))).status).toBe(409);
    await product.client.workflow.getHandle(id).terminate();
  });
});
