import type { AgentStatus, TeamStatus, WaitAnswer } from '../../src/contracts/team-status.js';
import { type Product, startProduct } from '../support/product.js';
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
});
