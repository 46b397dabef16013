import { randomUUID } from 'node:crypto';
import request from 'supertest';
import { roles } from '../../src/contracts/access.js';
import { ParleyError } from '../../src/domain/errors.js';
import { keyEntry, keyOf } from '../support/keys.js';
import { createRig } from './rig.js';

describe('A2A with keys', () => {
  const rig = createRig({
    env: {
      PARLEY_API_KEYS: JSON.stringify([
        ...roles.map((role) => keyEntry(role, role)),
        keyEntry('acme', 'admin', 'acme'),
      ]),
      PARLEY_PUBLIC_URL: 'https://parley.example.com/',
    },
  });
  rig.ports.panels = { names: [], panel: async () => ({ lanes: [{ lane_id: 'a', adapter: { kind: 'external' } }] }) };
  const rpc = (name: string, method: string, params: object) =>
    request(rig.app)
      .post('/a2a')
      .set({ authorization: `Bearer ${keyOf(name)}` })
      .send({ jsonrpc: '2.0', id: 1, method, params });
  const message = (text: string) => ({
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
    configuration: { returnImmediately: true },
  });

  test('says in its card that one is needed, and where it is', async () => {
    const { status, body } = await request(rig.app).get('/.well-known/agent-card.json');
    expect([status, body]).toMatchObject([
      200,
      {
        url: 'https://parley.example.com/a2a',
        securitySchemes: { key: { type: 'http', scheme: 'Bearer' } },
        skills: [{ id: 'ask' }],
      },
    ]);
  });

  test('refuses who has none, and who may not, as every route does', async () => {
    const without = await request(rig.app)
      .post('/a2a')
      .send({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } });
    expect([without.status, without.body]).toMatchObject([401, { code: 'unauthorized' }]);
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const { status, body } = await rpc('viewer', method, message('x'));
      expect([status, body]).toMatchObject([
        403,
        { code: 'forbidden', detail: expect.stringContaining('POST /v1/sessions needs') },
      ]);
    }
  });

  test('starts in the tenant of the key, and knows no other', async () => {
    const { body } = await rpc('acme', 'SendMessage', message('mine'));
    const { id } = (body as { result: { task: { id: string } } }).result.task;
    expect(rig.sessions.held.get(id)?.setup.tenant).toBe('acme');
    const other = (await rpc('admin', 'SendMessage', message('other'))).body as { result: { task: { id: string } } };
    for (const method of ['GetTask', 'CancelTask']) {
      const { id: theirs } = other.result.task;
      const { body: refused } = await rpc('acme', method, { id: theirs });
      expect(refused).toMatchObject({ error: { code: -32_001, message: `There is no session ${theirs}.` } });
    }
  });

  test('lists the tasks of the tenant of the key alone, and one that nobody answers for by what is known', async () => {
    const { body } = await rpc('acme', 'SendMessage', message('mine'));
    const { id } = (body as { result: { task: { id: string } } }).result.task;
    const work = {
      ...{ id, kind: 'session' as const, tenant: 'acme', lifecycle: 'running' as const, state: 'STREAMING' },
      ...{ waiting_for: null, summary: 'x', started_at: '2026-11-20T10:00:00.000Z', ended_at: null },
      links: { self: '', events: '', web_ui: '' },
    };
    rig.sessions.recentPage = { items: [{ work, context: 'painting' }], next_cursor: 'more', total: 7 };
    const first = (await rpc('acme', 'ListTasks', { pageSize: 3 })).body as object;
    expect(rig.sessions.recently.at(-1)).toMatchObject({ kind: 'session', tenant: 'acme', limit: 3 });
    expect(first).toMatchObject({ result: { tasks: [{ id }], nextPageToken: 'more', pageSize: 3, totalSize: 7 } });
    // One that has moved on since it was listed, or is not kept any more, is left out.
    const { body: moved } = await rpc('acme', 'ListTasks', { status: 'TASK_STATE_COMPLETED' });
    rig.sessions.failing.status = new ParleyError('not_found', 'There is no such session.');
    const { body: gone } = await rpc('acme', 'ListTasks', {});
    for (const empty of [moved, gone]) expect(empty).toMatchObject({ result: { tasks: [], nextPageToken: 'more' } });
    rig.sessions.failing.status = new ParleyError('unavailable', 'No worker answers.');
    const { body: bare } = await rpc('acme', 'ListTasks', {});
    rig.sessions.failing = {};
    expect(bare).toMatchObject({
      result: { tasks: [{ id, contextId: 'painting', status: { state: 'TASK_STATE_WORKING' } }] },
    });
    const { status, body: refused } = await rpc('acme', 'ListTasks', { tenant: 'other' });
    expect([status, refused]).toMatchObject([403, { code: 'forbidden' }]);
    await rpc('admin', 'ListTasks', { tenant: 'other' });
    expect(rig.sessions.recently.at(-1)).toMatchObject({ tenant: 'other' });
  });
});
