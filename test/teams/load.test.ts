import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentStatus, TeamStatus, WaitAnswer } from '../../src/contracts/team-status.js';
import { addsUp } from '../../src/domain/ledger/settle.js';
import type { TeamState } from '../../src/domain/team/state.js';
import { type ModelServer, startModelServer } from '../support/model-server.js';
import { type Product, startProduct } from '../support/product.js';
import { scratchFolder } from '../support/scratch.js';
import { calls, hangs, says } from '../support/team-bodies.js';

const program = fileURLToPath(new URL('../support/mcp-server.js', import.meta.url));
const named = (count: number, word = 'w'): string[] =>
  Array.from({ length: count }, (_, index) => `${word}${index + 1}`);
const stateOf = ({ agents }: TeamStatus, id: string): string | undefined =>
  agents.find(({ agent_id: each }) => each === id)?.state;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

describe('a team under load', () => {
  let product: Product;
  let models: ModelServer;
  let log: string;
  beforeAll(async () => {
    log = join(scratchFolder(), 'log');
    writeFileSync(log, '');
    const servers = join(scratchFolder(), 'servers.yaml');
    writeFileSync(
      servers,
      JSON.stringify({ mcpServers: { own: { command: process.execPath, args: [program, '${LOG_FILE}'] } } }),
    );
    models = await startModelServer();
    models.mock.onMessage(/./, { error: { message: 'out of order', type: 'server_error' }, status: 500 });
    product = await startProduct({
      PARLEY_MCP_SERVERS: servers,
      LOG_FILE: log,
      PARLEY_PRICES: JSON.stringify({ 'lab/*': { input: 1, output: 1 } }),
    });
  });
  afterAll(async () => {
    await product?.stop();
    await models?.close();
  });

  const snapshot = async (id: string): Promise<TeamState> =>
    (await product.client.workflow.getHandle(id).query<{ work: TeamState }>('snapshot')).work;
  const metric = async (line: string): Promise<number> => {
    const text = await (await fetch(`${product.url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${line} `))
        ?.slice(line.length + 1),
    );
  };
  /** All that stands in the contexts of a team, as one text. */
  const contexts = async (id: string): Promise<string> => JSON.stringify((await snapshot(id)).contexts.messages);

  test('has ten agents at work at once, each with its own answers', async () => {
    const before = await metric('parley_agent_turn_duration_seconds_count{outcome="returned",provider="scripted"}');
    const ids = named(10);
    const agents = ids.map((id) =>
      says(id, [
        calls(['get_agent_status', { id }]),
        calls(['send_message', { content: id, target: ids[(ids.indexOf(id) + 1) % 10]! }]),
        `I am ${id}`,
      ]),
    );
    const status = await product.teams.run({ agents });
    expect(status.agents.map(({ state, result }) => [state, result])).toEqual(
      ids.map((id) => ['COMPLETED', `I am ${id}`]),
    );
    expect(status.stats).toMatchObject({ free_slots: 10, queue_depth: 0, latency_ms: { count: 10 } });
    // At least: the end of a turn is told again where Temporal tries its task again, as when something arrives in that moment.
    expect(
      await metric('parley_agent_turn_duration_seconds_count{outcome="returned",provider="scripted"}'),
    ).toBeGreaterThanOrEqual((before || 0) + 10);
  });

  test('goes on past a tool and a model that hang, and providers that are dead or broken', async () => {
    const model = (base_url: string) => ({ kind: 'openai-compatible' as const, provider: 'lab', model: 'm', base_url });
    const well = named(4);
    const id = await product.teams.start({
      max_concurrent: 6,
      agents: [
        hangs('hung'),
        says('waiting', [calls(['mcp__own__hang', {}]), 'never'], { tools: ['mcp__own__hang'] }),
        { agent_id: 'dead', adapter: model('http://127.0.0.1:9/v1'), prompt: 'hello' },
        { agent_id: 'broken', adapter: model(models.baseUrl), prompt: 'hello' },
        ...well.map((each) => says(each, [calls(['get_agent_status', {}]), `done ${each}`])),
        // Both that hang keep their slots.
        ...named(5, 'late').map((each) => hangs(each)),
      ],
    });
    const { body } = await product.post(`/v1/teams/${id}/wait`, { agent_ids: ['dead', 'broken', ...well] });
    const { status, agents } = body as WaitAnswer;
    expect([status, agents.map(({ state }) => state)]).toEqual([
      'ok',
      ['FAILED', 'FAILED', ...well.map(() => 'COMPLETED')],
    ]);
    expect(agents.map(({ result }) => result)).toEqual([null, null, ...well.map((each) => `done ${each}`)]);
    expect(agents.slice(0, 2).map(({ error }) => error?.code)).toEqual(['EAGENTDOWN', 'EAGENTDOWN']);
    const now = await product.teams.until(id, ({ stats }) => stats.by_state.RUNNING === 6);
    expect([stateOf(now, 'hung'), stateOf(now, 'waiting'), now.stats.queue_depth]).toEqual(['RUNNING', 'RUNNING', 1]);
    while (!readFileSync(log, 'utf8').includes('hang began')) await pause();
    while ((await metric('parley_agents_at_work')) !== 6) await pause();
    expect(await metric('parley_agents_queued')).toBe(1);
    const ended = (await product.post(`/v1/teams/${id}/cancel`)).body as TeamStatus;
    expect(ended.stats.by_state).toMatchObject({ COMPLETED: 4, FAILED: 2, CANCELLED: 7 });
    while (!readFileSync(log, 'utf8').includes('hang cancelled')) await pause();
    while ((await metric('parley_agents_at_work')) !== 0) await pause();
    expect(await metric('parley_agents_queued')).toBe(0);
  });

  test('that spawns ten agents and stops them, time and again, is left as it was', async () => {
    const id = await product.teams.start({ keep_open: true });
    const at = `/v1/teams/${id}`;
    const ids = named(10);
    for (let time = 0; time < 3; time += 1) {
      const spawned = await product.post(
        `${at}/agents`,
        ids.map((each) => hangs(each)),
      );
      expect(spawned.status).toBe(201);
      const stopped = await Promise.all(ids.map((each) => product.post(`${at}/agents/${each}/cancel`)));
      expect(stopped.map(({ status, body }) => [status, (body as AgentStatus).state])).toEqual(
        ids.map(() => [200, 'CANCELLED']),
      );
      const removed = await Promise.all(ids.map((each) => product.remove(`${at}/agents/${each}`)));
      expect(removed.map(({ status }) => status)).toEqual(ids.map(() => 200));
    }
    expect((await product.get(`${at}/stats`)).body).toMatchObject({
      total_agents: 0,
      free_slots: 10,
      concurrent: 0,
      queue_depth: 0,
    });
    const { ledger, agents, held, waits, asks, delegations, ...team } = await snapshot(id);
    expect({ agents, held, waits, asks, delegations, calls: ledger.calls }).toEqual({
      agents: [],
      held: [],
      waits: [],
      asks: [],
      delegations: [],
      calls: [],
    });
    expect(ledger.accounts.map(({ accountId, reserved }) => [accountId, reserved.tokens])).toEqual([['team', 0]]);
    expect(JSON.stringify(team.contexts)).not.toMatch(/w\d/);
    const turns = async (): Promise<string[]> => {
      const found = [];
      const query = `WorkflowType = 'agent' AND ExecutionStatus = 'Running' AND WorkflowId STARTS_WITH '${id}.'`;
      for await (const { workflowId } of product.client.workflow.list({ query })) found.push(workflowId);
      return found;
    };
    while ((await turns()).length > 0) await pause();
    expect((await product.post(`${at}/close`)).status).toBe(200);
    await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
  });

  test('of twenty agents that race for one dollar spends no more than a call beyond it', async () => {
    const price = 0.07;
    const usage = { tokens: 10, usd: price };
    const act = { ...calls(['get_agent_status', {}]), usage };
    const agents = named(20).map((id) => says(id, [act, act, { final: 'Done.', usage }]));
    const { id, ...status } = await product.teams.run({ agents, max_concurrent: 20, budget: { max_usd: 1 } });
    const spent = Number(status.spend.usd);
    expect(spent).toBeGreaterThan(1 - price);
    expect(spent).toBeLessThan(1 + price + 1e-9);
    const { ledger } = await snapshot(id);
    expect([addsUp(ledger), ledger.calls]).toEqual([true, []]);
    expect(ledger.accounts.filter(({ reserved }) => reserved.usdMicros > 0 || reserved.tokens > 0)).toEqual([]);
    const each = status.agents.map(({ spend }) => Number(spend.usd));
    expect(each.reduce((sum, usd) => sum + usd, 0)).toBeCloseTo(spent, 9);
    expect(ledger.accounts.find(({ accountId }) => accountId === 'team')?.spent.usdMicros).toBe(
      Math.round(spent * 1e6),
    );
    const refused = status.agents.filter(({ state }) => state === 'FAILED');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => 'EBUDGET'));
  });

  test.each<[string, Parameters<typeof says>[1][number], RegExp]>([
    ['a tag that is not closed', '<delegate>{"child":"w","content":"go"} ', /it has no <\/delegate>/],
    [
      'a tag that holds another',
      '<delegate>a <stop_sub_agent>w</stop_sub_agent></delegate>',
      /do not stand in one another/,
    ],
    ['JSON that is cut off', '<delegate>{"child":"w","content":"go</delegate>', /its JSON cannot be read/],
    ['a list in a tag', '<stop_sub_agent>[]</stop_sub_agent>', /it holds a list/],
    ['a tool that there is none of', calls(['fly_to_the_moon', {}]), /fly_to_the_moon/],
    ['wrong arguments', calls(['delegate', { child: 7 }]), /delegate was not carried out/],
    [
      'arguments that are no JSON',
      { final: { text: '', tool_calls: [{ name: 'delegate', arguments: '{"child": "w", ' }] } },
      /delegate was not carried out/,
    ],
    ['itself as parent', calls(['spawn_sub_agent', { id: 'x', parent: 'x' }]), /cannot be its own parent/],
    ['work for itself', calls(['delegate', { child: 'a', content: 'do it' }]), /cannot delegate to itself/],
    [
      'a thousand calls at once',
      calls(...named(1_000).map((id): [string, Record<string, string>] => ['get_agent_status', { id }])),
      /an answer may hold at most \d+ calls, and this one holds 1000/,
    ],
  ])('hears back what is wrong with %s, and goes on', async (_, said, why) => {
    const { id, agents } = await product.teams.run({ agents: [says('a', [said, 'Done.'])] });
    expect(agents.map(({ state, result }) => [state, result])).toEqual([['COMPLETED', 'Done.']]);
    expect(await contexts(id)).toMatch(why);
  });

  test('gives an agent as much of five million characters as its window holds', async () => {
    const { id, agents } = await product.teams.run({
      agents: [says('a', [calls(['mcp__own__big', {}]), 'Done.'], { tools: ['mcp__own__big'] })],
    });
    expect(agents[0]).toMatchObject({ state: 'COMPLETED', result: 'Done.' });
    const kept = await contexts(id);
    expect(kept.length).toBeLessThan(300_000);
    expect(kept).toMatch(/begin.*characters are left out here.*end/);
  });

  test('lets no work go round in a circle', async () => {
    const back = (to: string) => calls(['delegate', { child: to, content: 'you do it' }]);
    const status = await product.teams.run({
      agents: [
        says('a', [back('b'), 'a is done']),
        { ...says('b', [back('c'), 'b is done']), prompt: undefined },
        { ...says('c', [back('a'), 'c is done']), prompt: undefined },
      ],
    });
    expect(status.agents.map(({ state, result }) => [state, result])).toEqual(
      ['a', 'b', 'c'].map((id) => ['COMPLETED', `${id} is done`]),
    );
    expect(await contexts(status.id)).toMatch(/it works for that agent now, so neither would ever end/);
    const own = await product.post('/v1/teams', { agents: [says('a', ['x'], { parent: 'a' })] });
    expect([own.status, JSON.stringify(own.body)]).toEqual([
      422,
      expect.stringContaining('must be another agent; it is the agent itself'),
    ]);
  });

  test('leaves no folders behind for agents that have written nothing', () => {
    const namespaces = join(product.data, 'namespaces');
    expect(existsSync(namespaces) ? readdirSync(namespaces) : []).toEqual([]);
  });
});
