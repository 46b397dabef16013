import { randomUUID } from 'node:crypto';
import type { AgentStatus, TeamStatus } from '../../src/contracts/team-status.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli, type Said } from '../support/run-cli.js';
import { calls, hangs, says } from '../support/team-bodies.js';

const sure = 'It is as sure as can be.';

describe('parley team', () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(() => product?.stop());

  const parley = (argv: string[], stdin?: string): Promise<Said> => runCli({ PARLEY_URL: product.url }, argv, stdin);
  const team = (verb: string, ...argv: string[]): Promise<Said> => parley(['team', verb, ...argv]);
  const json = async <T>(verb: string, ...argv: string[]): Promise<T> =>
    JSON.parse((await team(verb, ...argv, '--json')).out) as T;
  const start = async (body: object): Promise<string> =>
    (await parley(['team', 'start', '-'], JSON.stringify(body))).out;

  test('starts, shows the tree, tells its story, and says how it ended', async () => {
    const spawning = calls(
      ['spawn_sub_agent', { id: 'reader', initial_prompt: 'read' }],
      ['wait_for_agents', { ids: ['reader'] }],
    );
    const told = [{ partial: sure }, { final: 'It is sure.' }];
    const tenant = `t-${randomUUID()}`;
    const id = await start({ tenant, agents: [says('lead', [spawning, ...told])] });
    const followed = await team('follow', id);
    expect(followed.code).toBe(0);
    const lines = followed.out.split('\n');
    for (const line of [
      '▸ lead (agent) RUNNING, turn 1',
      '▸ reader (agent, child of lead) RUNNING, turn 1',
      '★ DONE       2 completed, 0 failed, 0 cancelled',
      '  ✓ lead: It is sure.',
    ])
      expect(lines).toContain(line);
    const shown = await team('show', id);
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/ COMPLETED {2}\(completed\) {2}2 agents\n {2}✓ lead .*\n {2}✓ {3}reader {2}COMPLETED/);
    expect((await team('agents', id, 'lead')).out.split('\n').at(-1)).toBe('It is sure.');
    // The list of work follows a moment later.
    const listed = async (): Promise<string> => (await parley(['list', '--kind', 'team', '--tenant', tenant])).out;
    while (!(await listed()).includes(id)) await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await parley(['checkpoints', id])).out).toMatch(/^CP-0 /);
    expect((await parley(['why', id])).out).toContain('does not wait: it has ended');
  });

  test('tells what each agent says apart, and waits without stopping any', async () => {
    const id = await start({ agents: [hangs('a', 'so far a'), hangs('b', 'so far b')] });
    await product.teams.until(id, ({ agents }) => agents.every(({ streaming }) => streaming));
    const { out } = await team('agents', id);
    expect(out.split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
      '▸ a RUNNING agent, 1 turn, $0 … so far a',
      '▸ b RUNNING agent, 1 turn, $0 … so far b',
    ]);
    const waited = await team('wait', id, 'a', '--timeout', '50ms');
    expect([waited.code, waited.notes]).toEqual([1, 'Some go on; nothing was stopped.']);
    expect(await json<AgentStatus>('pause', id, 'a')).toMatchObject({ agent_id: 'a', state: 'PAUSED' });
    expect((await team('pause', id, 'a')).code).toBe(2);
    expect(await json<TeamStatus>('pause', id)).toMatchObject({ state: 'PAUSED' });
    expect((await parley(['why', id])).out).toContain(`parley team resume ${id}  let it go on where it was`);
    expect((await team('resume', id)).out).toContain('  OPEN  ');
    expect((await team('cancel', id, 'a')).out).toContain('CANCELLED');
    expect((await team('agents', id, 'a')).code).toBe(1);
    const ended = await team('cancel', id);
    expect([ended.code, (await team('show', id)).code]).toEqual([0, 1]);
    expect(ended.out).toMatch(/– b +CANCELLED/);
  });

  test('adds agents, asks them, lets them ask each other, and looks into their windows', async () => {
    const id = await start({ keep_open: true, agents: [says('a', ['one'])] });
    expect((await team('wait', id)).code).toBe(0);
    expect((await parley(['why', id])).out).toContain(`parley team send ${id} a TEXT`);
    const workers = [says('b', ['two'], { role: 'worker' }), says('c', ['three'], { role: 'worker' })];
    expect((await parley(['team', 'spawn', id, '-'], JSON.stringify(workers))).code).toBe(0);
    const flags = ['--agent', 'd', '--parent', 'a', '--prompt', 'more', '--adapter', 'simulated', '--role', 'helper'];
    const spawned = await team('spawn', id, ...flags);
    expect(spawned.out).toMatch(/ d .* helper, /);
    expect((await team('wait', id, 'b', 'c', 'd')).code).toBe(0);
    expect((await team('send', id, 'a,b', 'again')).out).toBe('delivered to a, b');
    expect((await team('send', id, 'nobody', 'x')).notes).toContain('nobody');
    expect((await team('send', id, 'd', 'It is late.', '--context')).out).toBe('delivered to d');
    expect((await team('wait', id)).code).toBe(0);
    const turns = await json<{ answer: string[] }>('round-robin', id, 'worker', 'x', 'y', 'z');
    expect(turns.answer).toEqual(['two', 'three', 'two']);
    const chain = await team('role-chain', id, 'go', 'agent', 'worker', 'nobody');
    expect(chain.out.split('\n')).toEqual([
      '✓ agent (a)  one',
      expect.stringMatching(/^✓ worker \([bc]\) {2}t/),
      expect.stringContaining('– nobody (none)'),
      expect.stringMatching(/^★ COMPLETED/),
    ]);
    expect((await team('send-to-role', id, 'worker', 'go')).out).toMatch(/^✓ worker \([bc]\) {2}t.*\n★ COMPLETED/);
    const all = await team('broadcast', id, 'go', 'worker', 'nobody');
    expect([all.code, all.out]).toEqual([
      0,
      '✓ worker (b)  two\n✓ worker (c)  three\n– nobody (none)  no answer\n★ COMPLETED  3 answers',
    ]);
    expect(await team('send-to-role', id, 'nobody', 'go')).toMatchObject({
      code: 1,
      out: '– nobody (none)  no answer\n★ FAILED     no answer',
    });
    expect((await team('broadcast', id, 'go', 'worker', 'worker')).notes).toContain('roles[1]');
    expect((await team('role-chain', id, 'go', 'agent', '--detach')).notes).toContain(`parley team follow ${id}`);
    expect((await team('wait', id)).code).toBe(0);
    expect(await json('delegate', id, 'a', 'b', 'count')).toMatchObject({ status: 'ok', agent: { result: 'two' } });
    expect((await team('delegate', id, 'a', 'b', 'count', '--background')).out).toMatch(/^started \(delegation /);
    expect((await team('wait', id)).code).toBe(0);
    expect((await team('sync-context', id, 'a', 'c', '--categories', 'dialog', '--replace')).out).toMatch(
      /^\d+ messages copied, \d+ removed, 0 dropped$/,
    );
    expect((await team('sync-context', id, 'a', 'c', '--categories', 'gossip')).notes).toContain('categories');
    expect((await team('context', id, 'd')).out).toMatch(/^d, child of a\n\d+ tokens of .* 1 context/s);
    expect((await team('stats', id)).out).toMatch(/^0 of 10 slots in use, 0 in line; 4 agents: 4 completed\nlatency: /);
    expect((await team('clean-up', id, 'd')).out).toBe('d is cleaned up; its id is free again');
    expect((await team('close', id)).out).toContain('closed');
    const followed = await team('follow', id);
    expect(followed.out).toContain('  message      a person to a: again');
    expect(followed.out).toMatch(/ {2}delegation {3}a to b: completed/);
    expect(followed.out).toContain('  cleaned up   d');
  });

  test('shows the call that a person is asked about, and takes the answer', async () => {
    const lead = says('lead', [calls(['spawn_sub_agent', { id: 'reader' }]), 'Done.'], {
      approvals: [{ tool: 'spawn_*', when: 'always' }],
    });
    const id = await start({ agents: [lead] });
    await product.teams.until(id, ({ asked_call: call }) => call !== null);
    const { out } = await team('show', id);
    expect(out).toContain('    lead: spawn_sub_agent {"id":"reader"');
    expect(out).toContain(`  parley team answer ${id} approve|`);
    expect((await parley(['why', id])).out).toContain(`parley inbox answer ${id} approve`);
    expect((await team('answer', id, 'approve', '--as', 'anna')).out).toBe('approved');
    expect((await team('follow', id)).out).toContain('anna');
  });

  test('is compared with another, and forked with another prompt for an agent', async () => {
    const id = await start({ agents: [says('a', ['one'])] });
    expect((await team('follow', id)).code).toBe(0);
    const forked = await parley(['fork', id, '0', '--set', 'agents[a].prompt="Else?"']);
    expect(forked.code).toBe(0);
    expect((await team('follow', forked.out)).code).toBe(0);
    const compared = (await parley(['compare', id, forked.out])).out;
    expect(compared).toContain('answer       {"a":"one"}');
    expect(compared).toContain('agents[a].prompt: "do a" -> "Else?"');
    expect((await parley(['fork', id, '0', '--prompt', 'x'])).notes).toContain('--set agents[ID].prompt=TEXT');
  });

  test.each([
    ['no agents to add', ['spawn', 'x'], 'Describe agents in a file'],
    [
      'an adapter that is none',
      ['spawn', 'x', '--agent', 'a', '--adapter', 'oracle'],
      '--adapter oracle: write simulated',
    ],
    ['a team that is not there', ['stats', 'team-nowhere'], 'team-nowhere'],
    ['a timeout without a unit', ['wait', 'x', '--timeout', '5'], 'with its unit'],
  ])('refuses %s', async (_, argv, why) => {
    const { code, notes } = await parley(['team', ...argv]);
    expect([code, notes]).toEqual([2, expect.stringContaining(why)]);
  });
});
