import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import request from 'supertest';
import { roles } from '../../src/contracts/access.js';
import { removeWorkspaces, aDebate, proposes, sh } from '../support/debate-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { aSession, createRig } from './rig.js';
import { keyEntry, keyOf } from '../support/keys.js';

interface Answered {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent: Record<string, unknown>;
}

describe('Parley as an MCP server', () => {
  let product: Product;
  let client: Client;
  beforeAll(async () => {
    product = await startProduct();
    client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${product.url}/mcp`)) as never);
  });
  afterAll(async () => {
    await client.close();
    await product.stop();
    removeWorkspaces();
  });

  const use = async (name: string, given: object = {}): Promise<Answered> =>
    (await client.callTool({ name, arguments: { ...given } })) as never;
  const did = async <T>(name: string, given: object = {}): Promise<T> => {
    const { isError, content, structuredContent } = await use(name, given);
    if (isError === true) throw new Error(content[0]?.text);
    return structuredContent as T;
  };
  interface Followed {
    status: { state: string; result: { answer: unknown } | null; feedback?: { request: { request_id: string } }[] };
    events: { id: number; event: string }[];
    last_event_id: number;
    ended: boolean;
  }
  /** As a model would: calls follow until it has ended, or `holds`. */
  const follow = async (id: string, holds: (seen: Followed) => boolean = () => false) => {
    const events: Followed['events'] = [];
    for (let after = 0; ; ) {
      const seen = await did<Followed>('follow', { id, after, wait_seconds: 20 });
      events.push(...seen.events);
      after = seen.last_event_id;
      if (seen.ended || holds(seen)) return { ...seen, events };
    }
  };

  test('introduces itself, with a tool for each kind of work and those for all of them', async () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'parley' });
    expect(client.getInstructions()).toMatch(/follow/);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        ...['session', 'debate', 'fan_out', 'refinement', 'team', 'run', 'coordinator'].map((kind) => `start_${kind}`),
        ...['follow', 'answer', 'cancel', 'list', 'inbox', 'answer_inbox', 'compare'],
      ]),
    );
    const start = tools.find(({ name }) => name === 'start_session');
    expect(start?.inputSchema).toMatchObject({
      type: 'object',
      properties: { prompt: { type: 'string' }, wait_seconds: { maximum: 50 } },
      required: ['prompt', 'lanes'],
    });
    for (const { inputSchema } of tools) expect(inputSchema.type).toBe('object');
  });

  test('starts a session and answers with its result when that is there in time', async () => {
    const status = await did<Followed['status']>('start_session', { ...aSession(), wait_seconds: 30 });
    expect(status).toMatchObject({ state: 'COMPLETE', result: { answer: 'blue' } });
  });

  test('follows a session to its end, every event once', async () => {
    const lanes = [
      { lane_id: 'a', adapter: { kind: 'scripted' as const, script: [{ after_ms: 300, final: 'blue' }] } },
    ];
    const { id } = await did<{ id: string }>('start_session', aSession({ lanes }));
    const { events, status } = await follow(id);
    expect(status.result?.answer).toBe('blue');
    expect(events.map(({ id: number }) => number)).toEqual(events.map((_, index) => index + 1));
    expect(events.some(({ event }) => event === 'final')).toBe(true);
    const { events: none, ended } = await did<Followed>('follow', { id, kind: 'session', include_events: false });
    expect([none, ended]).toEqual([[], true]);
  });

  test('gives a person’s answer to a debate that waits for it', async () => {
    const { id } = await did<{ id: string }>('start_debate', {
      ...aDebate({ says: { solution: [proposes(sh('t1', 'true'))] }, approval: { required: true } }),
    });
    const { status } = await follow(id, ({ status: { feedback = [] } }) => feedback.length > 0);
    const request_id = status.feedback?.at(-1)?.request.request_id;
    const { items } = await did<{ items: object[] }>('inbox', { work_id: id });
    expect(items).toMatchObject([{ work_id: id, request: { request_id } }]);
    const receipt = await did('answer', { id, request_id, response: 'approve', provided_by: 'anna' });
    expect(receipt).toMatchObject({ request_id, outcome: 'approved' });
    expect((await follow(id)).status).toMatchObject({ result: { outcome: 'succeeded' } });
    const late = await did<{ errors: unknown[] }>('answer_inbox', { answers: [{ work_id: id, response: 'reject' }] });
    expect(late.errors).toHaveLength(1);
  });

  test('cancels, lists and compares', async () => {
    const tenant = `t-${randomUUID()}`;
    const lanes = [{ lane_id: 'a', adapter: { kind: 'external' as const } }];
    const ids = [];
    for (let count = 0; count < 2; count += 1)
      ids.push((await did<{ id: string }>('start_session', aSession({ lanes, tenant }))).id);
    expect(await did('cancel', { id: ids[0] })).toMatchObject({ state: 'CANCELLED' });
    const again = await use('cancel', { id: ids[0] });
    expect([again.isError, again.structuredContent]).toMatchObject([true, { code: 'wrong_state', status: 409 }]);
    let items: { id: string }[] = [];
    // Visibility follows after a moment.
    while (items.length < 2) ({ items } = await did<{ items: { id: string }[] }>('list', { tenant }));
    expect(items.map(({ id }) => id).sort()).toEqual(ids.toSorted());
    expect(await did('compare', { a: ids[0], b: ids[1] })).toMatchObject({
      a: { state: 'CANCELLED' },
      differences: [],
    });
    await did('cancel', { id: ids[1], kind: 'session' });
  });

  test.each<[string, object, object]>([
    ['no parameters', {}, { error: { code: -32602, message: expect.stringContaining('params') } }],
    ['no name', { params: {} }, { error: { code: -32602, message: expect.stringContaining('name') } }],
    ['a list of arguments', { params: { name: 'list', arguments: [] } }, { error: { code: -32602 } }],
  ])('says that a call with %s is the caller’s fault', async (_, members, told) => {
    const accept = 'application/json, text/event-stream';
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', ...members };
    expect(await product.post('/mcp', call, { accept })).toMatchObject({ status: 200, body: told });
  });

  test('says of a body that is no message what a message has', async () => {
    expect(await product.post('/mcp', {})).toMatchObject({
      status: 400,
      body: {
        ...{ jsonrpc: '2.0', id: null },
        error: { code: -32_600, message: expect.stringContaining('jsonrpc is missing; it must be 2.0') },
      },
    });
    const headers = { 'content-type': 'application/json' };
    const broken = await fetch(`${product.url}/mcp`, { method: 'POST', headers, body: '{"jsonrpc"' });
    expect([broken.status, await broken.json()]).toMatchObject([
      400,
      { id: null, error: { code: -32_700, message: expect.stringContaining('ends too early') } },
    ]);
  });

  test.each<[string, string, object, RegExp]>([
    [
      'every fault of a body',
      'start_session',
      { lanes: [] },
      /^invalid_request: 2 faults.*\n- prompt is missing.*\n- lanes must/,
    ],
    [
      'a wait that is too long',
      'start_session',
      { ...aSession(), wait_seconds: 90 },
      /wait_seconds must be .*50; got 90/,
    ],
    ['a member that is none', 'follow', { id: 'x', since: 1 }, /unknown field "since"; it takes id, kind, after/],
    ['work that is not there', 'follow', { id: 'nowhere' }, /^not_found: There is no work.* nowhere\./],
    ['work that is of another kind', 'follow', { id: 'nowhere', kind: 'run' }, /^not_found: There is no run nowhere\./],
    [
      'what a kind cannot',
      'answer',
      { id: 'x', kind: 'session', request_id: 'fr-20261121-0a1b2c', response: 'a' },
      /^wrong_state: /,
    ],
    ['a tool that is none', 'stop', {}, /^not_found: There is no tool "stop"; there are start_session/],
  ])('names %s', async (_, name, given, told) => {
    const { isError, content } = await use(name, given);
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(told);
  });

  test('keeps nothing between messages, and so has no stream to open and no session to end', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await fetch(`${product.url}/mcp`, { method });
      expect([status, headers.get('allow')]).toEqual([405, 'POST']);
    }
  });
});

describe('a tool', () => {
  const rig = createRig({
    env: {
      PARLEY_API_KEYS: JSON.stringify([
        ...roles.map((role) => keyEntry(role, role)),
        keyEntry('acme', 'admin', 'acme'),
      ]),
    },
  });
  const use = async (name: string, tool: string, given: object): Promise<Answered> => {
    const { body } = await request(rig.app)
      .post('/mcp')
      .set({ authorization: `Bearer ${keyOf(name)}`, accept: 'application/json, text/event-stream' })
      .send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: given } });
    return (body as { result: Answered }).result;
  };

  test('needs a key, as every route does', async () => {
    const { status, body } = await request(rig.app).post('/mcp').send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect([status, body]).toMatchObject([401, { code: 'unauthorized' }]);
  });

  test.each([
    [
      'viewer',
      'start_session',
      /^forbidden: The key viewer has the role viewer, which may read; POST \/v1\/sessions needs/,
    ],
    ['approver', 'start_session', /^forbidden: .*needs operator or admin/],
    ['operator', 'answer_inbox', /^forbidden: .*POST \/v1\/inbox\/answers needs approver or admin/],
  ])('is refused to a %s who may not over HTTP: %s', async (role, tool, told) => {
    const { isError, content } = await use(role, tool, tool === 'start_session' ? aSession() : { answers: [] });
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(told);
  });

  test('starts in the tenant of its key, and knows no other', async () => {
    const mine = (await use('acme', 'start_session', aSession({ id: 'mine' }))).structuredContent;
    expect(mine).toMatchObject({ id: 'mine' });
    expect(rig.sessions.held.get('mine')?.setup.tenant).toBe('acme');
    await use('admin', 'start_session', aSession({ id: 'other' }));
    for (const tool of ['follow', 'cancel']) {
      const { content } = await use('acme', tool, { id: 'other', kind: 'session' });
      expect(content[0]?.text).toBe('not_found: There is no session other.');
    }
  });

  test('starts nothing from inside of a worker', async () => {
    const { body } = await request(rig.app)
      .post('/mcp')
      .set({ authorization: `Bearer ${keyOf('admin')}`, accept: 'application/json, text/event-stream' })
      .set('parley-worker', 'w1')
      .send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'start_session', arguments: aSession() } });
    expect((body as { result: Answered }).result.content[0]?.text).toMatch(/^forbidden: A worker of a fan-out/);
  });

  test('counts towards the same limit as every route', async () => {
    const { app } = createRig({ env: { PARLEY_RATE_LIMIT: '1' } });
    const ping = () => request(app).post('/mcp').send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    await ping();
    expect((await ping()).status).toBe(429);
  });
});
