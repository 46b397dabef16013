import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TeamStatus } from '../../src/contracts/team-status.js';
import { messagesOf } from '../../src/domain/team/context/book.js';
import type { TeamState } from '../../src/domain/team/state.js';
import { type Product, startProduct } from '../support/product.js';
import { scratchFolder } from '../support/scratch.js';
import { calls, says } from '../support/team-bodies.js';
import { describeWithBubblewrap } from '../activities/sandbox/rig.js';

const program = fileURLToPath(new URL('../support/mcp-server.js', import.meta.url));

describeWithBubblewrap('agents of a team that have tools', () => {
  let product: Product;
  let log: string;
  let shared: string;
  beforeAll(async () => {
    log = join(scratchFolder(), 'log');
    writeFileSync(log, '');
    shared = scratchFolder();
    const servers = join(scratchFolder(), 'servers.yaml');
    const own = { command: process.execPath, args: [program, '${LOG_FILE}'] };
    const gone = { url: 'http://127.0.0.1:9/mcp' };
    writeFileSync(servers, JSON.stringify({ mcpServers: { own, gone } }));
    product = await startProduct({ PARLEY_MCP_SERVERS: servers, PARLEY_WORKSPACES: shared, LOG_FILE: log });
  });
  afterAll(() => product?.stop());
  /** What stands in the context of an agent. */
  const heardBy = async (id: string, agentId: string): Promise<string[]> => {
    const { work } = await product.client.workflow.getHandle(id).query<{ work: TeamState }>('snapshot');
    return messagesOf(work.contexts, agentId).map(({ content }) => content);
  };
  const notes = (): string[] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => !/^(begun \d+)?$/.test(line));

  test('write, read and run in folders of their own, and call the tools of servers', async () => {
    const tools = ['write_file', 'run_command', 'mcp__own__*', 'mcp__gone__x'];
    const script = (agentId: string) => [
      calls(['write_file', { path: 'in/a.txt', content: agentId }], ['mcp__own__note', { line: agentId }]),
      calls(['run_command', { command: 'cat in/a.txt in/a.txt > b.txt; ls .. > c.txt' }], ['mcp__gone__x', {}]),
      'Done.',
    ];
    const agents = ['a', 'b'].map((agentId) => says(agentId, script(agentId), { tools }));
    const { id, agents: ended } = await product.teams.run({ agents });
    expect(ended.map(({ result }) => result)).toEqual(['Done.', 'Done.']);
    const room = (...path: string[]): string => readFileSync(join(product.data, 'namespaces', id, ...path), 'utf8');
    expect([room('a', 'b.txt'), room('b', 'b.txt')]).toEqual(['aa', 'bb']);
    expect(room('a', 'c.txt')).toBe('a\n');
    expect(notes().toSorted()).toEqual(['a', 'b']);
  });

  test('that are programs work where their tools do, beside nobody else', async () => {
    const argv = [
      'sh',
      '-c',
      'cat in.txt 2>/dev/null || echo \'<write_file>{"path":"in.txt","content":"by its tool"}</write_file>\'; ls > seen.txt; ls .. | wc -l',
    ];
    const agents = ['a', 'b'].map((agent_id) => ({
      agent_id,
      prompt: 'Go.',
      adapter: { kind: 'command' as const, argv },
      tools: ['write_file'],
    }));
    const { id, agents: ended } = await product.teams.run({ agents });
    for (const { result } of ended) expect(result).toMatch(/^by its tool\s*1$/);
    const { id: other } = await product.teams.run({ agents, workspace: { path: shared } });
    expect(readdirSync(shared).toSorted()).toEqual(['in.txt', 'seen.txt']);
    expect(readFileSync(join(product.data, 'namespaces', id, 'a', 'seen.txt'), 'utf8')).toContain('in.txt');
    expect(existsSync(join(product.data, 'namespaces', other))).toBe(false);
    for (const name of ['in.txt', 'seen.txt']) rmSync(join(shared, name));
  });

  test('have copies of their files in a fork, and those of its origin stay as they were', async () => {
    const script = [calls(['write_file', { path: 'in/a.txt', content: 'one' }]), 'Done.'];
    const again = [
      calls(['read_file', { path: 'in/a.txt' }], ['write_file', { path: 'b.txt', content: 'two' }]),
      'Done.',
    ];
    const agent = says('a', [...script, ...again], { tools: ['read_file', 'write_file'] });
    const origin = await product.teams.run({ agents: [agent] });
    const { items } = (await product.get(`/v1/teams/${origin.id}/checkpoints`)).body as {
      items: { sequence_num: number }[];
    };
    const { body } = await product.post(`/v1/teams/${origin.id}/fork`, {
      checkpoint: items.at(-1)!.sequence_num,
      change: { agents: [{ ...agent, prompt: 'Go on.' }] },
    });
    const { id } = body as { id: string };
    expect((await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null)).state).toBe('COMPLETED');
    const room = (of: string): string => join(product.data, 'namespaces', of, 'a');
    expect([readdirSync(room(id)).toSorted(), readdirSync(room(origin.id))]).toEqual([['b.txt', 'in'], ['in']]);
    expect(readFileSync(join(room(id), 'in/a.txt'), 'utf8')).toBe('one');
  });

  test('do with them what their list and their template allow', async () => {
    const act = calls(
      ['write_file', { path: 'no', content: '' }],
      ['mcp__own__note', { line: 'never' }],
      ['run_command', { command: 'touch yes' }],
    );
    const template = {
      capabilities: { allowed_tools: ['run_command', 'mcp__own__note'], forbidden_actions: ['mcp__*'] },
    };
    const limited = says('a', [act, 'Done.'], { tools: ['write_file', 'run_command', 'mcp__own__note'], template });
    const { id } = await product.teams.run({ agents: [limited, says('b', [act, 'Done.'], { tools: [] })] });
    expect(readdirSync(join(product.data, 'namespaces', id, 'a'))).toEqual(['yes']);
    expect(existsSync(join(product.data, 'namespaces', id, 'b'))).toBe(false);
    expect(notes()).not.toContain('never');
  });

  test('are called on the machine with the folders, whether a list or a template names them', async () => {
    const script = [calls(['write_file', { path: 'in.txt', content: 'x' }]), 'Done.'];
    const template = { capabilities: { allowed_tools: ['write_file'] } };
    const { id, agents } = await product.teams.run({
      agents: [says('a', script, { tools: ['write_file'] }), says('b', script, { template })],
    });
    expect(agents.map(({ result }) => result)).toEqual(['Done.', 'Done.']);
    const queueOf = async (turn: string): Promise<string[]> => {
      const { events } = await product.client.workflow.getHandle(`${id}.agent.${turn}`).fetchHistory();
      return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled?.activityType?.name === 'callTool' ? (scheduled.taskQueue?.name ?? []) : [],
      );
    };
    const [listed, ofTemplate] = [await queueOf('a.1'), await queueOf('b.2')];
    expect([ofTemplate.length, ofTemplate]).toEqual([1, listed]);
  });

  test('run no command in a sandbox that the operator does not allow', async () => {
    const script = [
      calls(['run_command', { command: 'touch yes' }], ['write_file', { path: 'no', content: '' }]),
      'Done.',
    ];
    const agents = [says('a', script, { tools: ['run_command', 'write_file'] })];
    const { id } = await product.teams.run({ agents, sandbox: { network: true } });
    expect(readdirSync(join(product.data, 'namespaces', id, 'a'))).toEqual(['no']);
  });

  test('work in the folder of their team where it has one', async () => {
    const agents = ['a', 'b'].map((agentId) =>
      says(agentId, [calls(['write_file', { path: `${agentId}.txt`, content: agentId }]), 'Done.'], {
        tools: ['write_file'],
      }),
    );
    await product.teams.run({ agents, workspace: { path: shared } });
    expect(readdirSync(shared).toSorted()).toEqual(['a.txt', 'b.txt']);
    const [first] = agents;
    const write = says('a', [calls(['write_file', { path: 'c.txt', content: '' }]), 'Done.'], { tools: first?.tools });
    await product.teams.run({ agents: [write], workspace: { path: shared, read_only: true } });
    expect(readdirSync(shared).toSorted()).toEqual(['a.txt', 'b.txt']);
  });

  test('hear what an explorer had found by its last round, marked as unfinished', async () => {
    // Who answers for an asker answers for its explorer, too: that finds the same, and wants to look further.
    const looking = {
      text: 'a.txt says seven.',
      tool_calls: [{ name: 'delegate_explore_task', arguments: { task: 'What is there?', max_iterations: 1 } }],
    };
    const asker = says('asker', [{ final: looking }, 'Done.'], { tools: ['delegate_explore_task', 'list_files'] });
    const { id, agents } = await product.teams.run({ agents: [asker] });
    expect(agents).toMatchObject([{ agent_id: 'asker', state: 'COMPLETED', result: 'Done.' }]);
    expect(await heardBy(id, 'asker')).toContainEqual(
      expect.stringMatching(/"result":"a\.txt says seven\.\\n\\n\[unfinished: it was asked once.*"state":"COMPLETED"/),
    );
  });

  test('call them for as long as their budget has time, from when a person lets them or resumes them, too', async () => {
    const hangs = (agentId: string, name: string, over: object) =>
      says(agentId, [{ ...calls([name, name === 'run_command' ? { command: 'sleep 600' } : {}]), ...over }, 'Done.'], {
        tools: [name],
        budget: { max_seconds: 3, when_used_up: agentId === 'more' ? 'ask' : 'stop' },
        approvals: agentId === 'allowed' ? [{ tool: '*', when: 'always' }] : [],
      });
    const id = await product.teams.start({
      agents: [
        hangs('runs', 'run_command', {}),
        hangs('more', 'mcp__own__hang', {}),
        hangs('allowed', 'run_command', {}),
        hangs('paused', 'run_command', { after_ms: 700 }),
      ],
    });
    const agentOf = ({ agents }: TeamStatus, agentId: string) => agents.find(({ agent_id: each }) => each === agentId)!;
    const control = (verb: 'pause' | 'resume') => product.post(`/v1/teams/${id}/agents/paused/${verb}`);
    const approve = async (request_id: string, more: object = {}): Promise<void> => {
      const given = { request_id, response: 'approve', provided_by: 'anna', ...more };
      expect((await product.post(`/v1/teams/${id}/feedback`, given)).body).toMatchObject({ outcome: 'approved' });
    };
    await product.teams.until(id, (now) => agentOf(now, 'paused').state === 'RUNNING');
    expect((await control('pause')).status).toBe(200);
    // By then what they had when they asked their models would be over, too.
    const { asked_call: call } = await product.teams.until(
      id,
      (now) => now.asked_call !== null && agentOf(now, 'runs').state === 'FAILED',
    );
    expect(call).toMatchObject({ agent_id: 'allowed' });
    await approve(call!.request_id);
    expect((await control('resume')).status).toBe(200);
    const { asked_budget: asked } = await product.teams.until(id, (now) => now.asked_budget !== undefined);
    expect(asked).toMatchObject({ agent_id: 'more' });
    await approve(asked!.request_id, { limits: { max_seconds: 600 } });
    const ended = await product.teams.until(id, ({ ended_at: endedAt }) => endedAt !== null);
    expect(agentOf(ended, 'more')).toMatchObject({ state: 'COMPLETED', result: 'Done.' });
    expect(notes()).toEqual(expect.arrayContaining(['hang began', 'hang cancelled']));
    for (const agentId of ['runs', 'more', 'allowed', 'paused']) {
      if (agentId !== 'more')
        expect(agentOf(ended, agentId)).toMatchObject({ state: 'FAILED', error: { code: 'EBUDGET' } });
      expect(await heardBy(id, agentId)).toContainEqual(
        expect.stringMatching(/"code":"EBUDGET","message":"\w+ was ended, as the time/),
      );
    }
  }, 30_000);

  test('share the servers with lanes, which are answered by a tool', async () => {
    const adapter = { kind: 'mcp' as const, server: 'own', tool: 'echo', prompt_argument: 'said' };
    const { result, lanes } = await product.run({ prompt: 'Which colour?', lanes: [{ lane_id: 'a', adapter }] });
    expect([result?.answer, lanes[0]?.adapter]).toEqual(['Which colour?', 'mcp own echo']);
  });
});
