import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createTeamsClient } from '../../temporal/teams-client.js';
import { openTeamSchema, type OpenTeamBody } from '../../src/contracts/team.js';
import type { AgentStatus, TeamStatus } from '../../src/contracts/team-status.js';
import { messagesOf } from '../../src/domain/team/context/book.js';
import type { ContextMessage } from '../../src/domain/team/context/message.js';
import { planOf } from '../../src/domain/team/setup.js';
import type { TeamState } from '../../src/domain/team/state.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';
import { scratchFolder } from '../support/scratch.js';
import { follow, type Heard } from '../support/sse.js';
import { calls, hangs, says } from '../support/team-bodies.js';
import { teamSetup } from '../support/team-play.js';
import { checkpointsOf, ended } from '../support/work-at.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

const states = ({ agents }: TeamStatus): string => agents.map(({ agent_id: id, state }) => `${id} ${state}`).join(', ');
const agentOf = ({ agents }: TeamStatus, id: string): AgentStatus => {
  const agent = agents.find(({ agent_id: each }) => each === id);
  if (!agent) throw new Error(`no agent ${id}`);
  return agent;
};
const pathOf = (id: string): string => `/v1/teams/${id}`;
const restore = async (id: string, checkpoint: number): Promise<void> => {
  const { status, body } = await product.post(`${pathOf(id)}/restore`, { checkpoint, reason: 'once more' });
  expect({ status, body }).toMatchObject({ status: 202 });
};
const durable = async (id: string): Promise<Heard[]> =>
  (await follow(`${product.url}${pathOf(id)}/events`, 0)).filter((event) => event.id !== null);
const isOver = ({ ended_at: endedAt }: TeamStatus): boolean => endedAt !== null;

const contextOf = async (id: string, agentId: string): Promise<ContextMessage[]> => {
  const { work } = await product.client.workflow.getHandle(id).query<{ work: TeamState }>('snapshot');
  return messagesOf(work.contexts, agentId);
};

/** Calls in the context of an agent that have no result. */
const openCalls = async (id: string, agentId: string): Promise<string[]> => {
  const messages = await contextOf(id, agentId);
  const answered = messages.flatMap(({ resultOf }) => resultOf ?? []);
  const made = messages.flatMap((message) => message.calls);
  expect(new Set(answered).size).toBe(answered.length);
  return made.filter((call) => !answered.includes(call));
};

/** How the workflow of a turn stands; null: there is none. */
const workflowOf = async (id: string): Promise<string | null> => {
  try {
    return (await product.client.workflow.getHandle(id).describe()).status.name;
  } catch {
    return null; // nobody has started it
  }
};

/** Seconds that a task of the workflow may take. */
const taskTimeout = async (id: string): Promise<number> => {
  const { raw } = await product.client.workflow.getHandle(id).describe();
  return Number(raw.executionConfig?.defaultWorkflowTaskTimeout?.seconds);
};

const lead = says('lead', [
  calls(['spawn_sub_agent', { id: 'reader', initial_prompt: 'read' }], ['wait_for_agents', { ids: ['reader'] }]),
  calls(['get_context_info', {}]),
  'The reader is done.',
]);

describe('a team that is restored', () => {
  test('comes to the same result from each of its checkpoints, and says what happened without a hole', async () => {
    const original = await product.teams.run({ agents: [lead, says('b', ['two'])] });
    const { id } = original;
    const { items } = await checkpointsOf(product, pathOf(id));
    expect(items.length).toBeGreaterThan(3);
    let told = await durable(id);
    for (const { sequence_num: number } of items.toReversed()) {
      await restore(id, number);
      await ended(product, pathOf(id));
      const again = await product.teams.until(id, isOver);
      const results = ({ agents }: TeamStatus) => agents.map(({ agent_id, result }) => [agent_id, result]);
      expect([number, again.state, states(again), results(again)]).toEqual([
        number,
        'COMPLETED',
        states(original),
        results(original),
      ]);
      for (const { agent_id: agentId } of again.agents) expect(await openCalls(id, agentId)).toEqual([]);
      const now = await durable(id);
      expect(now.slice(0, told.length)).toEqual(told);
      expect(now[told.length]).toMatchObject({ event: 'restored', data: { checkpoint: number } });
      expect(now.map((event) => event.id)).toEqual(now.map((_, index) => index + 1));
      told = now;
    }
  }, 120_000);

  test('has whoever was at work at work again, whoever was paused paused, and nobody of before', async () => {
    const id = await product.teams.start({
      agents: [hangs('a', 'so far a'), hangs('p', 'so far p'), says('b', [{ after_ms: 5_000, final: 'two' }])],
    });
    await product.teams.until(id, (now) => agentOf(now, 'a').streaming && agentOf(now, 'p').streaming);
    await product.post(`${pathOf(id)}/agents/p/pause`);
    await product.teams.until(id, (now) => agentOf(now, 'b').state === 'COMPLETED');
    const { items } = await checkpointsOf(product, pathOf(id));
    await restore(id, items.at(-1)!.sequence_num);
    const turn = (agentId: string, epoch = '') => workflowOf(`${id}.agent.${agentId}${epoch}`);
    while ((await turn('a.1', '.e1')) === null) await new Promise((resolve) => setTimeout(resolve, 50));
    const back = await product.teams.until(id, (now) => agentOf(now, 'a').streaming);
    expect(states(back)).toBe('a RUNNING, p PAUSED, b COMPLETED');
    expect([agentOf(back, 'a').text, agentOf(back, 'b').result]).toEqual(['so far a', 'two']);
    expect(await Promise.all([turn('a.1'), turn('p.2'), turn('a.1', '.e1'), turn('p.2', '.e1')])).toEqual([
      'COMPLETED',
      'COMPLETED',
      'RUNNING',
      null,
    ]);
    expect((await product.post(`${pathOf(id)}/agents/p/resume`)).body).toMatchObject({ state: 'RUNNING' });
    await product.teams.until(id, (now) => agentOf(now, 'p').streaming);
    expect(await turn('p.2', '.e1')).toBe('RUNNING');
    expect((await product.post(`${pathOf(id)}/cancel`)).body).toMatchObject({ state: 'CANCELLED' });
  }, 60_000);

  test('answers who calls it what became of that call, not of one before', async () => {
    const id = await product.teams.start({ agents: [hangs('a'), hangs('b'), hangs('c')] });
    await product.teams.until(id, (now) => now.agents.every(({ streaming }) => streaming));
    // The checkpoint is in the step of the call.
    await product.post(`${pathOf(id)}/agents/a/cancel`);
    const { items } = await checkpointsOf(product, pathOf(id));
    const before = await taskTimeout(id);
    await restore(id, items.at(-1)!.sequence_num);
    expect([before, await taskTimeout(id)]).toEqual([10, 10]);
    expect(await product.post(`${pathOf(id)}/agents/a/pause`)).toMatchObject({ status: 409 });
    expect((await product.post(`${pathOf(id)}/agents/b/pause`)).body).toMatchObject({ state: 'PAUSED' });
    expect(states(await product.teams.status(id))).toBe('a CANCELLED, b PAUSED, c RUNNING');
    await product.post(`${pathOf(id)}/cancel`);
  }, 60_000);
});

describe('a team that is forked', () => {
  test('asks another prompt where that is changed, keeps what had ended, and leaves its origin as it was', async () => {
    const original = await product.teams.run({ agents: [says('a', ['one', 'other']), says('b', ['two'])] });
    const { items } = await checkpointsOf(product, pathOf(original.id));
    const { status, body } = await product.post(`${pathOf(original.id)}/fork`, {
      checkpoint: items.at(-1)!.sequence_num,
      change: { agents: [{ agent_id: 'a', prompt: 'something else' }] },
    });
    expect({ status, body }).toMatchObject({ status: 202 });
    const { id } = body as { id: string };
    await ended(product, pathOf(id));
    const forked = await product.teams.until(id, isOver);
    expect(forked.agents.map(({ agent_id, result, turns }) => [agent_id, result, turns])).toEqual([
      ['a', 'other', 2],
      ['b', 'two', 1],
    ]);
    expect(await product.teams.status(original.id)).toEqual(original);
    const compared = await product.get(`/v1/compare?a=${original.id}&b=${id}`);
    expect(compared).toMatchObject({ status: 200, body: { b: { forked_from: { id: original.id } } } });
  }, 60_000);

  test('in the middle has whoever was at work there at work again, beside its origin', async () => {
    const id = await product.teams.start({ agents: [hangs('a', 'so far a'), says('b', ['two'])] });
    await product.teams.until(id, (now) => agentOf(now, 'b').state === 'COMPLETED' && agentOf(now, 'a').streaming);
    const { items } = await checkpointsOf(product, pathOf(id));
    const { body } = await product.post(`${pathOf(id)}/fork`, { checkpoint: items.at(-1)!.sequence_num });
    const forked = (body as { id: string }).id;
    await product.teams.until(forked, (now) => agentOf(now, 'a').streaming);
    expect(await Promise.all([id, forked].map((each) => workflowOf(`${each}.agent.a.1`)))).toEqual([
      'RUNNING',
      'RUNNING',
    ]);
    for (const each of [id, forked]) await product.post(`${pathOf(each)}/cancel`);
  }, 60_000);
});

/** A team whose workflows continue as new after so many events. */
const startShort = async (events: number, body: OpenTeamBody): Promise<string> => {
  const id = `short-${randomUUID()}`;
  const { client, taskQueue } = product;
  const { agents, keep_open: keepOpen } = openTeamSchema.parse(body);
  const setup = teamSetup({ id, agents: agents.map((agent) => planOf(agent)), keepOpen, continueAfterEvents: events });
  await createTeamsClient({ client, taskQueue }).start(setup, 'short', { isRepeatable: false, request: {} });
  return id;
};

/** Runs of a workflow, in the order in which they were. */
const runsOf = async (workflowId: string): Promise<number> => {
  let runs = 0;
  for (let runId: string | undefined; ; runs += 1) {
    const { events } = await product.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const before = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (!before) return runs + 1;
    runId = before;
  }
};

describe('a team that continues as new while its agents are at work', () => {
  test('loses nothing, asks nobody twice, and answers whoever calls it meanwhile', async () => {
    const steps = (count: number, last: string) => [
      ...Array.from({ length: count }, () => calls(['get_context_info', {}])),
      last,
    ];
    const id = await startShort(40, {
      keep_open: true,
      agents: [
        says('a', [...steps(15, 'a is done'), 'a again'], { max_rounds: 100 }),
        says('b', steps(15, 'b is done'), { max_rounds: 100 }),
        hangs('p', 'so far p'),
        says('lead', [
          calls(['spawn_sub_agent', { id: 'c', initial_prompt: 'do c' }], ['wait_for_agents', { ids: ['c', 'a'] }]),
          'lead is done',
        ]),
        says('asks', [calls(['get_context_info', {}]), 'asked'], { approvals: [{ tool: 'get_*', when: 'always' }] }),
      ],
    });
    const at = pathOf(id);
    await product.teams.until(id, (now) => agentOf(now, 'p').streaming);
    expect((await product.post(`${at}/agents/p/pause`)).body).toMatchObject({ state: 'PAUSED' });
    const asked = await product.teams.until(id, ({ asked_call: call }) => call !== null);
    const note = (call: number, key?: string) =>
      product.post(`${at}/messages`, { content: `note ${call}`, target: 'p' }, key ? { 'Idempotency-Key': key } : {});
    for (let call = 0; call < 20; call += 1)
      expect((await note(call, call === 0 ? 'first' : undefined)).status).toBe(200);
    const { request } = asked.feedback.find(({ state }) => state === 'open')!;
    const answered = await product.post(`${at}/feedback`, {
      request_id: request.request_id,
      response: 'approve',
      provided_by: 'anna',
    });
    expect(answered.body).toMatchObject({ outcome: 'approved' });
    const done = await product.teams.until(id, ({ agents }) =>
      agents.every(({ agent_id: each, state }) => each === 'p' || state === 'COMPLETED'),
    );
    expect(done.agents.map(({ agent_id, result, turns }) => [agent_id, result, turns])).toEqual([
      ['a', 'a is done', 1],
      ['b', 'b is done', 1],
      ['p', null, 1],
      ['lead', 'lead is done', 1],
      ['asks', 'asked', 1],
      ['c', expect.anything(), 1],
    ]);
    expect(agentOf(done, 'p').state).toBe('PAUSED');
    // Its key is known however many runs ago it was taken.
    expect(await note(0, 'first')).toMatchObject({ status: 200, body: { delivered: ['p'] } });
    expect(await note(1, 'first')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await product.post(`${at}/messages`, { content: 'again', target: 'a' });
    const again = await product.teams.until(
      id,
      (now) => agentOf(now, 'a').turns === 2 && agentOf(now, 'a').state === 'COMPLETED',
    );
    expect(agentOf(again, 'a').result).toBe('a again');
    expect((await product.post(`${at}/agents/p/resume`)).body).toMatchObject({ state: 'RUNNING' });
    expect((await product.post(`${at}/cancel`)).body).toMatchObject({ state: 'CANCELLED' });
    const told = await durable(id);
    expect(told.map((event) => event.id)).toEqual(told.map((_, index) => index + 1));
    const ends = told.filter(
      ({ event, data }) => event === 'agent' && (data as { state: string }).state === 'COMPLETED',
    );
    expect(ends.map(({ data }) => (data as { agent_id: string }).agent_id).toSorted()).toEqual([
      ...['a', 'a', 'asks', 'b', 'c', 'lead'],
    ]);
    expect(await openCalls(id, 'a')).toEqual([]);
    // What it had not read when it was cancelled stands in its context, once.
    const notes = (await contextOf(id, 'p')).flatMap(({ content }) => /note \d+$/.exec(content) ?? []);
    expect(notes).toEqual(Array.from({ length: 20 }, (_, index) => `note ${index}`));
    expect(await runsOf(id)).toBeGreaterThan(3);
    expect(await runsOf(`${id}.agent.a.1`)).toBeGreaterThan(2);
    // All of its runs are in its export, and replay.
    const file = join(scratchFolder(), 'team.json');
    const bundle = ['--bundle', process.env['TEST_WORKFLOW_BUNDLE'] ?? ''];
    const cli = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, [...argv, ...bundle]);
    expect(await cli('export', 'run', id, '--output', file)).toMatchObject({ code: 0 });
    expect(await cli('replay', file)).toMatchObject({ code: 0 });
  }, 120_000);
});
