import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import { aFanOut, anAgent, aTask, failing, scripted } from '../support/fan-out-bodies.js';
import { type Product, startProduct } from '../support/product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

type Over = Parameters<typeof aFanOut>[0];
const run = (over: Over): Promise<FanOutStatus> => product.fanOuts.run(aFanOut(over));
const said = (id: string, answer: unknown, after_ms = 0) => aTask(id, { adapter: scripted(answer, after_ms) });
const broken = (id: string) => aTask(id, { adapter: failing('it broke') });
const agentsOf = ({ tasks }: FanOutStatus): string => tasks.map(({ agent_id: id }) => id).join(' ');
const statesOf = ({ tasks }: FanOutStatus): string => tasks.map(({ state }) => state).join(' ');
const abc = [anAgent('a'), anAgent('b'), anAgent('c')];

describe('tasks of a fan-out go', () => {
  const routed = (affinity?: 'domain' | 'none') => ({ code: { agents: ['b', 'c'], ...(affinity && { affinity }) } });
  const about = (id: string, domain?: string) => aTask(id, { topic: 'code', ...(domain && { domain }) });
  test.each<[string, NonNullable<Over>['fan_out'], string]>([
    [
      'in turn by round_robin',
      { strategy: 'round_robin', tasks: ['t1', 't2', 't3', 't4'].map((id) => aTask(id)) },
      'a b c a',
    ],
    [
      'by load along a route without affinity',
      {
        strategy: 'topic_based',
        topic_routing: routed(),
        tasks: [about('t1', 'x'), about('t2', 'x'), about('t3', 'x')],
      },
      'b c b',
    ],
    [
      'by domain along a route with affinity',
      {
        strategy: 'topic_based',
        topic_routing: routed('domain'),
        tasks: [about('t1', 'x'), about('t2', 'y'), about('t3', 'x'), about('t4')],
      },
      'b c b c',
    ],
    [
      'to their own agent where their topic has no route',
      { strategy: 'topic_based', tasks: [aTask('t1', { topic: 'art', agent: 'c' })] },
      'c',
    ],
  ])('%s', async (_, fan_out, agents) => {
    const status = await run({ agents: abc, ...(fan_out && { fan_out }) });
    expect([status.state, agentsOf(status)]).toEqual(['COMPLETED', agents]);
  });

  test('to who can do it, the most specific first, by capability_match', async () => {
    const status = await run({
      agents: [
        anAgent('all', { capabilities: ['sql', 'css', 'go'] }),
        anAgent('sql', { capabilities: ['sql'] }),
        anAgent('web', { capabilities: ['css', 'sql'] }),
      ],
      fan_out: {
        strategy: 'capability_match',
        tasks: [['sql'], ['css'], ['go'], ['css', 'sql']].map((requires, index) => aTask(`t${index}`, { requires })),
      },
    });
    expect(agentsOf(status)).toBe('sql web all web');
  });
});

describe('a fan-out with more tasks than places', () => {
  const priorities = [0, 0, 1, 5];
  test.each<['wait' | 'reject' | 'priority_evict', string]>([
    ['wait', 'COMPLETED COMPLETED COMPLETED COMPLETED'],
    ['reject', 'COMPLETED COMPLETED REJECTED REJECTED'],
    ['priority_evict', 'COMPLETED EVICTED EVICTED COMPLETED'],
  ])('by %s ends them as %s', async (queue_overflow, states) => {
    const status = await run({
      barrier: { min_completion_ratio: 0 },
      fan_out: {
        max_concurrent: 1,
        queue_limit: 1,
        queue_overflow,
        tasks: priorities.map((priority, index) => aTask(`t${index}`, { priority })),
      },
    });
    expect(statesOf(status)).toBe(states);
    for (const { state, reason } of status.tasks)
      expect(reason?.code ?? null).toBe(state === 'COMPLETED' ? null : 'EWINDOW');
  });
});

describe('the barrier of a fan-out', () => {
  const some = (completed: number, failed: number) => [
    ...Array.from({ length: completed }, (_, index) => said(`done${index}`, { [`k${index}`]: 1 })),
    ...Array.from({ length: failed }, (_, index) => broken(`not${index}`)),
  ];
  // A timeout of an hour: only a decision at the last outcome ends these in time.
  test.each<[string, number, number, object, 'COMPLETED' | 'FAILED']>([
    ['2 of 4 are half', 2, 2, {}, 'COMPLETED'],
    ['2 of 5 are less', 2, 3, {}, 'FAILED'],
    ['3 of 5 are more', 3, 2, {}, 'COMPLETED'],
    ['a ratio of 0 goes on with none', 0, 2, { min_completion_ratio: 0 }, 'COMPLETED'],
    ['a ratio of 1 needs all', 3, 1, { min_completion_ratio: 1 }, 'FAILED'],
    ['and has all', 3, 0, { min_completion_ratio: 1 }, 'COMPLETED'],
    ['without partial mode one is missed', 3, 1, { partial_mode: false }, 'FAILED'],
    ['and none is not', 3, 0, { partial_mode: false, min_completion_ratio: 0 }, 'COMPLETED'],
  ])('decides at once: %s', async (_, completed, failed, policy, state) => {
    const status = await run({
      barrier: { timeout_ms: 3_600_000, ...policy },
      fan_out: { tasks: some(completed, failed) },
    });
    expect(status).toMatchObject({ state, barrier: { state: 'COMPLETE', completed, failed, released_by: 'settled' } });
    if (state === 'COMPLETED') expect(status.result?.partial).toBe(failed > 0);
    else expect(status.error?.message).toMatch(`${completed} of ${completed + failed} tasks completed`);
  });

  test('goes on at its timeout with exactly half, queued ones among the missing', async () => {
    const status = await run({
      barrier: { timeout_ms: 5_000 },
      fan_out: {
        max_concurrent: 2,
        tasks: [said('t1', { a: 1 }), said('t2', { b: 1 }), said('t3', 1, 600_000), said('t4', 1, 600_000)],
      },
    });
    expect(status.result).toMatchObject({ partial: true, completed: ['t1', 't2'], failed: [], missing: ['t3', 't4'] });
    expect(status.barrier.released_by).toBe('timeout');
  });
});

describe('of two values for one place', () => {
  // One at a time, so that the order of completion is the order of the tasks.
  const two = {
    max_concurrent: 1,
    tasks: [said('t1', { x: 1, deep: { y: 1 } }), said('t2', { x: 2, deep: { y: 1 } })],
  };
  const decides = scripted({ decisions: [{ pointer: '/x', task_id: 't2' }] });
  const aggregator = { parallel: { aggregation_role: 'aggregator' as const } };
  test.each<[string, Over, { x: number; by: string }]>([
    ['the first stands where nothing is said', {}, { x: 1, by: 'first_wins' }],
    ['the first stands', { fan_in: { conflict_resolution: 'first_wins' } }, { x: 1, by: 'first_wins' }],
    ['the last stands', { fan_in: { conflict_resolution: 'last_wins' } }, { x: 2, by: 'last_wins' }],
    [
      'the orchestrator says which',
      { fan_in: { conflict_resolution: 'orchestrator_decides', adapter: decides } },
      { x: 2, by: 'orchestrator' },
    ],
    [
      'the first stands where the orchestrator does not say',
      { fan_in: { conflict_resolution: 'orchestrator_decides', adapter: scripted('no idea') } },
      { x: 1, by: 'first_wins' },
    ],
    [
      'an agent that is an aggregator says which',
      { agents: [anAgent('a'), anAgent('judge', { adapter: decides, template: aggregator })] },
      { x: 2, by: 'orchestrator' },
    ],
  ])('%s', async (_, over, { x, by }) => {
    const status = await run({ ...over, fan_out: two });
    expect(status.result).toMatchObject({ value: { x, deep: { y: 1 } }, conflicts: [{ pointer: '/x', by }] });
    // An aggregator settles; it is given no task.
    expect(agentsOf(status)).toBe('a a');
  });
});

describe('a fan-in', () => {
  test('by select_best takes the highest score, of equals the earlier task', async () => {
    const status = await run({
      fan_in: { aggregation_strategy: 'select_best' },
      fan_out: {
        tasks: [said('t1', { score: 0.2 }), said('t2', { score: 0.9, of: 2 }, 50), said('t3', { score: 0.9, of: 3 })],
      },
    });
    expect(status.result).toMatchObject({ value: { of: 2 }, provenance: [{ task_id: 't2' }] });
  });
  test('by consensus takes the answer of the most, and says how many agree', async () => {
    const status = await run({
      fan_in: { aggregation_strategy: 'consensus', agreement: { method: 'exact' } },
      fan_out: { tasks: [said('t1', 'red'), said('t2', 'blue'), said('t3', 'blue'), said('t4', 'blue')] },
    });
    expect(status.result).toMatchObject({ value: 'blue', agreement: 0.75 });
  });
  test('leaves out who takes no part', async () => {
    const none = { parallel: { aggregation_role: 'none' as const } };
    const status = await run({
      agents: [anAgent('a'), anAgent('b', { template: none })],
      fan_out: { tasks: [said('t1', { a: 1 }), said('t2', { b: 1 })] },
    });
    expect(status.result).toMatchObject({ value: { a: 1 }, completed: ['t1', 't2'], partial: false });
  });
});
