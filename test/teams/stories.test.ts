import type { AgentStatus, TeamStatus, WaitAnswer } from '../../src/contracts/team-status.js';
import { type Product, startProduct } from '../support/product.js';
import { follow } from '../support/sse.js';
import { calls, hangs, says } from '../support/team-bodies.js';

const until = async <T>(look: () => Promise<T>, holds: (value: T) => boolean): Promise<T> => {
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const states = ({ agents }: TeamStatus): string => agents.map(({ agent_id: id, state }) => `${id} ${state}`).join(', ');
const agentOf = ({ agents }: TeamStatus, id: string): AgentStatus => {
  const agent = agents.find(({ agent_id: each }) => each === id);
  if (!agent) throw new Error(`no agent ${id}`);
  return agent;
};

describe('a team', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  test('asks its agents, over its slots in order, and ends when all have', async () => {
    const status = await product.teams.run({
      agents: [says('a', ['one']), says('b', ['two']), says('c', ['three'])],
      max_concurrent: 1,
    });
    expect(status).toMatchObject({ state: 'COMPLETED', lifecycle: 'completed', result: { completed: 3 } });
    expect(status.agents.map(({ result }) => result)).toEqual(['one', 'two', 'three']);
  });

  test('whose agents spawn, wait and are told what became of it', async () => {
    const asker = says('lead', [
      calls(['spawn_sub_agent', { id: 'reader', initial_prompt: 'read' }], ['wait_for_agents', { ids: ['reader'] }]),
      'The reader is done.',
    ]);
    const status = await product.teams.run({ agents: [asker], max_concurrent: 1 });
    expect(states(status)).toBe('lead COMPLETED, reader COMPLETED');
    expect(agentOf(status, 'lead').result).toBe('The reader is done.');
    const [lead, reader] = [agentOf(status, 'lead'), agentOf(status, 'reader')];
    expect(reader.parent).toBe('lead');
    // The wait stands behind the spawn in one answer, and so it came behind it.
    expect(Date.parse(lead.ended_at ?? '')).toBeGreaterThanOrEqual(Date.parse(reader.ended_at ?? ''));
  });

  test('hears a wrong call and a wrong tag back, and goes on', async () => {
    const status = await product.teams.run({
      agents: [says('a', [calls(['fly', {}], ['delegate', { child: 1 }]), '<delegate>x', 'Done.'])],
    });
    expect(agentOf(status, 'a')).toMatchObject({ state: 'COMPLETED', result: 'Done.' });
  });

  test('is paused, told apart in what it streams, waited for and cancelled from outside', async () => {
    const id = await product.teams.start({ agents: [hangs('a', 'so far a'), hangs('b', 'so far b')] });
    await product.teams.until(id, (now) => now.agents.every(({ streaming }) => streaming));
    const running = await product.teams.status(id);
    expect(running.agents.map(({ text }) => text)).toEqual(['so far a', 'so far b']);
    const waited = (await product.post(`/v1/teams/${id}/wait`, { agent_ids: ['a', 'nobody'], timeout_ms: 50 }))
      .body as WaitAnswer;
    expect([waited.status, waited.agents.map(({ state }) => state)]).toEqual(['timeout', ['RUNNING']]);
    expect((await product.post(`/v1/teams/${id}/agents/a/pause`)).body).toMatchObject({ state: 'PAUSED' });
    // A call that was under way is not held up, and can be read on.
    await product.teams.until(id, (now) => agentOf(now, 'a').text === 'so far a');
    expect(agentOf(await product.teams.status(id), 'a')).toMatchObject({ state: 'PAUSED', streaming: true });
    expect((await product.post(`/v1/teams/${id}/agents/a/pause`)).body).toMatchObject({
      status: 409,
      detail: expect.stringContaining('only a RUNNING agent can be paused'),
    });
    expect((await product.post(`/v1/teams/${id}/agents/a/cancel`)).body).toMatchObject({ state: 'CANCELLED' });
    await product.teams.until(id, (now) => agentOf(now, 'a').text === 'so far a');
    const ended = (await product.post(`/v1/teams/${id}/cancel`)).body as TeamStatus;
    expect(ended).toMatchObject({ state: 'CANCELLED', lifecycle: 'cancelled' });
    expect(states(ended)).toBe('a CANCELLED, b CANCELLED');
  });

  test('that is kept open is added to, asked again, cleaned up and closed', async () => {
    const id = await product.teams.start({ keep_open: true, agents: [says('a', ['one', 'two'])] });
    const at = `/v1/teams/${id}`;
    await product.post(`${at}/wait`, {});
    expect((await product.post(`${at}/agents`, says('a', ['x']))).status).toBe(409);
    const spawned = await product.post(`${at}/agents`, [
      says('b', ['three'], { role: 'worker' }),
      says('c', ['four'], { role: 'worker' }),
    ]);
    expect(spawned).toMatchObject({ status: 201, body: { agents: [{ agent_id: 'b' }, { agent_id: 'c' }] } });
    expect((await product.post(`${at}/messages`, { content: 'again', target: 'a' })).body).toMatchObject({
      delivered: ['a'],
    });
    const { body } = await product.post(`${at}/wait`, {});
    expect((body as WaitAnswer).agents.map(({ result }) => result)).toEqual(['two', 'three', 'four']);
    const turns = await product.post(`${at}/round-robin`, { role: 'worker', prompts: ['x', 'y', 'z'] });
    expect(turns).toMatchObject({ status: 200, body: { status: 'completed', answer: ['three', 'four', 'three'] } });
    const delegated = await product.post(`${at}/delegate`, { parent: 'a', child: 'b', content: 'count' });
    expect(delegated).toMatchObject({ status: 200, body: { status: 'ok', agent: { agent_id: 'b', result: 'three' } } });
    expect(
      (await product.post(`${at}/sync-context`, { parent: 'a', child: 'b', categories: ['dialog'] })).body,
    ).toMatchObject({ copied: 4 });
    const known = { content: 'The sky is blue.', target: 'a', category: 'context' };
    expect((await product.post(`${at}/messages`, known)).body).toMatchObject({ delivered: ['a'] });
    expect((await product.post(`${at}/sync-context`, { parent: 'a', child: 'b' })).body).toMatchObject({ copied: 1 });
    expect((await product.get(`${at}/agents/b/context`)).body).toMatchObject({
      agent_id: 'b',
      stats: { messages: { dialog: expect.any(Number), context: 1 } },
    });
    expect((await product.remove(`${at}/agents/c`)).body).toEqual({ agent_id: 'c', removed: true });
    expect((await product.get(`${at}/agents/c`)).status).toBe(404);
    expect((await product.get(`${at}/stats`)).body).toMatchObject({
      total_agents: 2,
      free_slots: 10,
      by_state: { COMPLETED: 2 },
    });
    expect((await product.post(`${at}/close`)).body).toMatchObject({ closed: true });
    const ended = await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
    expect(ended.state).toBe('COMPLETED');
    expect((await product.post(`${at}/agents`, says('d', ['x']))).status).toBe(409);
  });

  test('asks a person whether an agent may call a tool, and carries out what was approved', async () => {
    const id = await product.teams.start({
      agents: [
        says('a', [calls(['spawn_sub_agent', { id: 'b' }], ['spawn_sub_agent', { id: 'c' }]), 'Done.'], {
          approvals: [{ tool: 'spawn_*', when: 'always' }],
        }),
      ],
    });
    const asked = await product.teams.until(id, ({ asked_call: call }) => call !== null);
    expect(asked).toMatchObject({
      lifecycle: 'waiting',
      waiting: { for: 'person' },
      asked_call: { arguments: { id: 'b' } },
    });
    const inbox = async (): Promise<{ work_id: string; content: unknown }[]> =>
      ((await product.get(`/v1/inbox?work_id=${id}`)).body as { items: { work_id: string; content: unknown }[] }).items;
    const listed = await until(inbox, (items) => items.some(({ work_id: of }) => of === id));
    expect(listed.find(({ work_id: of }) => of === id)).toMatchObject({
      content: { agent: 'a', tool: 'spawn_sub_agent' },
    });
    const answer = async (response: string) => {
      const { feedback } = await product.teams.until(id, (now) => now.feedback.some(({ state }) => state === 'open'));
      const { request } = feedback.find(({ state }) => state === 'open')!;
      return await product.post(`/v1/teams/${id}/feedback`, {
        request_id: request.request_id,
        response,
        provided_by: 'anna',
      });
    };
    expect((await answer('approve')).body).toMatchObject({ outcome: 'approved' });
    expect((await answer('reject')).body).toMatchObject({ outcome: 'rejected' });
    const ended = await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
    expect(states(ended)).toBe('a COMPLETED, b CANCELLED');
  });

  describe('that is asked by role,', () => {
    let id = '';
    const critics = 'good, dead, mute, fine';
    /** One that nobody has asked anything. */
    const idle = (agentId: string, role: string, entry: { final: string } | { fail: { message: string } }) => ({
      role,
      agent_id: agentId,
      adapter: { kind: 'scripted' as const, script: [entry] },
    });
    const ask = (pattern: string, body: object, query = '') =>
      product.post(`/v1/teams/${id}/${pattern}${query}`, { content: 'What is new?', ...body });
    const of = (role: string, handledBy: string, answer: string | null) => ({
      ...{ role, handled_by: handledBy, answer, error: null },
    });
    beforeAll(async () => {
      id = await product.teams.start({
        keep_open: true,
        agents: [
          idle('r1', 'reader', { final: 'first' }),
          idle('r2', 'reader', { final: 'second' }),
          idle('w', 'writer', { final: 'third' }),
          idle('b', 'broken', { fail: { message: 'out of ink' } }),
        ],
        lite_agents: [
          idle('idle', 'reader', { final: 'nobody asks it' }),
          idle('good', 'critic', { final: 'good' }),
          idle('dead', 'critic', { fail: { message: 'no' } }),
          idle('mute', 'critic', { final: '' }),
          idle('fine', 'critic', { final: 'fine' }),
          idle('ghost', 'grave', { fail: { message: 'no' } }),
          idle('bones', 'grave', { final: ' ' }),
        ],
      });
    });
    afterAll(() => product.post(`/v1/teams/${id}/cancel`));

    test('has the next of its agents answer, and no lite one', async () => {
      const answers: object[] = [];
      for (let call = 0; call < 3; call += 1) answers.push((await ask('send-to-role', { role: 'reader' })).body);
      expect(answers).toMatchObject(
        [
          ['r1', 'first'],
          ['r2', 'second'],
          ['r1', 'first'],
        ].map(([who, answer]) => ({ status: 'completed', answer, lineage: [of('reader', who!, answer!)] })),
      );
    });

    test.each([
      ['all of its lite agents but who fails or says nothing', 'critic', 'completed', critics, 'good\nfine'],
      ['lite agents of whom none says anything', 'grave', 'failed', 'ghost, bones', null],
      ['nobody', 'nobody', 'failed', 'none', null],
    ])('has %s answer where it has no other agent', async (_, role, status, handledBy, answer) => {
      const asked = await ask('send-to-role', { role });
      expect(asked).toMatchObject({ status: 200, body: { status, answer, lineage: [of(role, handledBy, answer)] } });
    });

    test('tells of an agent that fails', async () => {
      expect((await ask('send-to-role', { role: 'broken' })).body).toMatchObject({
        status: 'failed',
        answer: null,
        lineage: [{ handled_by: 'b', error: { message: expect.stringContaining('out of ink') } }],
      });
    });

    test('has every agent of each role answer in order, and lite ones only of a role that no other has', async () => {
      const asked = await ask('broadcast', { roles: ['writer', 'critic', 'nobody', 'reader'] });
      expect(asked).toMatchObject({
        status: 200,
        body: {
          status: 'completed',
          answer: ['third', 'good\nfine', null, 'first', 'second'],
          lineage: [
            of('writer', 'w', 'third'),
            of('critic', critics, 'good\nfine'),
            of('nobody', 'none', null),
            of('reader', 'r1', 'first'),
            of('reader', 'r2', 'second'),
          ],
        },
      });
    });

    test('answers a call that is sent again with its key as before, and asks nobody twice', async () => {
      const key = { 'Idempotency-Key': `once-${id}` };
      const post = (body: object) => product.post(`/v1/teams/${id}/broadcast`, body, key);
      const body = { content: 'Once.', roles: ['writer'] };
      const { turns } = agentOf(await product.teams.status(id), 'w');
      const first = await post(body);
      expect([first.status, (await post(body)).body]).toEqual([200, first.body]);
      expect(agentOf(await product.teams.status(id), 'w').turns).toBe(turns + 1);
      expect((await post({ ...body, roles: ['reader'] })).status).toBe(409);
    });

    test('goes on without who does not wait, and its event tells what it came to', async () => {
      const left = await ask('send-to-role', { role: 'writer' }, '?wait=0');
      expect(left).toMatchObject({ status: 202, body: { status: 'running' } });
      const { pattern_id: patternId } = left.body as { pattern_id: string };
      const heard = await follow(`${product.url}/v1/teams/${id}/events`, 0, (all) =>
        JSON.stringify(all.at(-1)).includes(patternId),
      );
      expect(heard.at(-1)?.data).toMatchObject({
        status: 'completed',
        answer: 'third',
        lineage: [of('writer', 'w', 'third')],
      });
    });

    test.each<[string, string, object, string[]]>([
      ['no role', 'send-to-role', {}, ['role']],
      ['a blank role', 'send-to-role', { role: ' ' }, ['role']],
      ['roles where it takes one', 'send-to-role', { roles: ['reader'] }, ['role', 'roles']],
      ['no text', 'send-to-role', { role: 'reader', content: 5 }, ['content']],
      ['no roles', 'broadcast', { roles: [] }, ['roles']],
      ['a role where it takes several', 'broadcast', { role: 'reader' }, ['roles', 'role']],
      ['a role twice', 'broadcast', { roles: ['reader', 'writer', ' reader '] }, ['roles[2]']],
      ['a role that is a number', 'broadcast', { roles: ['reader', 7] }, ['roles[1]']],
    ])('refuses %s in %s by its path', async (_, pattern, body, paths) => {
      const refused = await ask(pattern, body);
      expect(refused.status).toBe(422);
      expect((refused.body as { errors: { path: string }[] }).errors.map(({ path }) => path)).toEqual(paths);
    });

    test('is asked no more once it has ended', async () => {
      const { id: over } = await product.teams.run({ agents: [says('a', ['one'])] });
      for (const [pattern, body] of [
        ['send-to-role', { role: 'agent' }],
        ['broadcast', { roles: ['agent'] }],
      ] as const) {
        const refused = await product.post(`/v1/teams/${over}/${pattern}`, { content: 'more', ...body });
        expect(refused).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
      }
      expect((await product.post('/v1/teams/team-nowhere/broadcast', { content: 'x', roles: ['a'] })).status).toBe(404);
    });
  });
});
