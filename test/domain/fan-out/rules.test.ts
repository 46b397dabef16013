import { openFanOutSchema } from '../../../src/contracts/fan-out.js';
import { admit, startOrder } from '../../../src/domain/fan-out/admission.js';
import { assign } from '../../../src/domain/fan-out/assignment.js';
import { barrierPasses, barrierStateOf, countsOf } from '../../../src/domain/fan-out/barrier.js';
import { aFanOut, anAgent, aTask, tasks } from '../../support/fan-out-bodies.js';

type Over = Parameters<typeof aFanOut>[0];
const whose = (over: Over): string[] =>
  assign(openFanOutSchema.parse(aFanOut(over))).map((to) => ('agentId' in to ? to.agentId : to.refused));
const faultsOf = (over: Over): string[] =>
  openFanOutSchema.safeParse(aFanOut(over)).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ??
  [];

const agents = [
  anAgent('a', { capabilities: ['read'] }),
  anAgent('b', { capabilities: ['read', 'write'] }),
  anAgent('c', { capabilities: ['read', 'write', 'sign'] }),
];

describe('tasks go', () => {
  test('in turn to all agents, in the order of the tasks', () => {
    expect(whose({ agents, fan_out: { strategy: 'round_robin', tasks: tasks(5) } })).toEqual(['a', 'b', 'c', 'a', 'b']);
  });
  test.each<[string[], string]>([
    [[], 'a'],
    [['read'], 'a'],
    [['write'], 'b'],
    [['write', 'read'], 'b'],
    [['sign', 'read'], 'c'],
  ])('that require %j to the most specific that offers it, %s', (requires, agent) => {
    const fan_out = { strategy: 'capability_match' as const, tasks: [aTask('t', { requires })] };
    expect(whose({ agents, fan_out })).toEqual([agent]);
  });
  test('to the least loaded of equally specific ones', () => {
    const equals = ['x', 'y'].map((id) => anAgent(id, { capabilities: ['read'] }));
    const fan_out = { strategy: 'capability_match' as const, tasks: tasks(3, { requires: ['read'] }) };
    expect(whose({ agents: equals, fan_out })).toEqual(['x', 'y', 'x']);
  });

  const byTopic = (affinity: 'domain' | 'none', given: ReturnType<typeof aTask>[]) => ({
    agents,
    fan_out: {
      strategy: 'topic_based' as const,
      topic_routing: { code: { agents: ['a', 'b'], affinity }, law: { agents: ['b', 'c'], affinity } },
      tasks: given,
    },
  });
  const coded = (id: string, domain?: string) => aTask(id, { topic: 'code', ...(domain !== undefined && { domain }) });
  test('of one domain to one agent, by affinity', () => {
    const given = [coded('1', 'x'), coded('2', 'y'), coded('3', 'x'), coded('4', 'y'), coded('5', 'x')];
    expect(whose(byTopic('domain', given))).toEqual(['a', 'b', 'a', 'b', 'a']);
  });
  test('of one topic to one agent, by affinity, where no domain is named', () => {
    expect(whose(byTopic('domain', [coded('1'), coded('2'), coded('3')]))).toEqual(['a', 'a', 'a']);
  });
  test('by load without affinity', () => {
    expect(whose(byTopic('none', [coded('1', 'x'), coded('2', 'x'), coded('3', 'x')]))).toEqual(['a', 'b', 'a']);
  });
  test('without a route to their own agent', () => {
    expect(whose(byTopic('none', [aTask('1', { topic: 'art', agent: 'c' }), aTask('2', { agent: 'b' })]))).toEqual([
      'c',
      'b',
    ]);
  });
});

describe('a start is refused', () => {
  test('naming every task that no agent can take', () => {
    const fan_out = {
      strategy: 'topic_based' as const,
      tasks: [
        aTask('t1', { topic: 'toString' }),
        aTask('t2', { agent: 'zed' }),
        aTask('t3', { agent: 'a' }),
        aTask('t4'),
      ],
    };
    expect(faultsOf({ agents, fan_out })).toEqual([
      expect.stringMatching(/^fan_out.tasks.0: no agent can take task "t1": its topic "toString" has no route/),
      expect.stringMatching(/^fan_out.tasks.1: no agent can take task "t2".* its agent "zed" is not in agents/),
      expect.stringMatching(/^fan_out.tasks.3: no agent can take task "t4": it has no topic and it names no agent/),
    ]);
  });
  test.each<[string, Over, RegExp]>([
    [
      'a capability that nobody has',
      { agents, fan_out: { strategy: 'capability_match', tasks: [aTask('t', { requires: ['fly'] })] } },
      /"t": it requires "fly"; offered are a: read; b/,
    ],
    ['no agents', { agents: [] }, /"t1": there is none; list some in agents/],
    [
      'two tasks of one id',
      { fan_out: { tasks: [aTask('t'), aTask('t')] } },
      /tasks.1.task_id: "t" is taken by fan_out.tasks\[0\]/,
    ],
    [
      'two agents of one id',
      { agents: [anAgent('a'), anAgent('a')] },
      /agents.1.agent_id: "a" is taken by agents\[0\]/,
    ],
    ['an agent without adapter', { agents: [{ agent_id: 'a' }] }, /task "t1" goes to agent "a", which has no adapter/],
    [
      'an agent that cannot be isolated',
      { agents: [anAgent('a', { template: { parallel: { supports_isolation: false } } })] },
      /agent "a" does not support isolation/,
    ],
    [
      'an orchestrator that is not there',
      { fan_in: { conflict_resolution: 'orchestrator_decides' } },
      /fan_in.adapter: orchestrator_decides needs an adapter/,
    ],
    [
      'a custom fan-in without function',
      { fan_in: { aggregation_strategy: 'custom' } },
      /fan_in.function: aggregation_strategy custom needs the name/,
    ],
    [
      'an id that is not workflow_id',
      { id: 'x', workflow_id: '7d3f1c52-8a55-4b61-9a0e-0c9f6f1f2a11' },
      /workflow_id: is the id of the fan-out/,
    ],
    ['a workflow_id that is no UUID', { workflow_id: 'x' }, /workflow_id: must be a UUID/],
    ['a path that leaves', { fan_out: { tasks: [aTask('t', { input_artifacts: ['../x'] })] } }, /input_artifacts.0: /],
    ['no place at once', { fan_out: { max_concurrent: 0 } }, /fan_out.max_concurrent/],
    ['a ratio above 1', { barrier: { min_completion_ratio: 1.1 } }, /barrier.min_completion_ratio/],
  ])('for %s', (_, over, words) => {
    expect(faultsOf(over).join('\n')).toMatch(words);
  });
  test('and an empty list of tasks is none of these', () => {
    expect(faultsOf({ agents: [], fan_out: { tasks: [] } })).toEqual([]);
  });
});

describe('of tasks with priorities', () => {
  const places = (
    overflow: 'wait' | 'reject' | 'priority_evict',
    queueLimit: number | null,
    priorities: number[],
  ): string => {
    const given = priorities.map((priority, index) => ({ taskId: `t${index}`, priority }));
    const admitted = admit(given, { maxConcurrent: 1, overflow, queueLimit });
    const out = admitted.flatMap(({ place }, index) =>
      place === 'rejected' || place === 'evicted' ? [`${place} ${index}`] : [],
    );
    return [startOrder(given, admitted).join(' '), ...out].join(', ');
  };
  test.each<[string, 'wait' | 'reject' | 'priority_evict', number | null, number[], string]>([
    ['all wait without a limit, higher first, FIFO within one', 'wait', null, [0, 0, 5, 5, 1], '0 2 3 4 1'],
    ['all wait above the limit', 'wait', 1, [0, 0, 5], '0 2 1'],
    ['the newest are refused', 'reject', 1, [0, 0, 9, 9], '0 1, rejected 2, rejected 3'],
    ['none may wait', 'reject', 0, [0, 1], '0, rejected 1'],
    ['a higher one evicts the lowest', 'priority_evict', 2, [0, 1, 2, 3], '0 3 2, evicted 1'],
    ['the youngest of equals is evicted', 'priority_evict', 2, [0, 1, 1, 3], '0 3 1, evicted 2'],
    ['an equal one evicts none', 'priority_evict', 1, [0, 1, 1], '0 1, rejected 2'],
    ['one that runs is never evicted', 'priority_evict', 1, [0, 5, 9], '0 2, evicted 1'],
    ['nobody can be evicted where nobody may wait', 'priority_evict', 0, [0, 9], '0, rejected 1'],
  ])('%s (%s, limit %j, %j)', (_, overflow, limit, priorities, result) => {
    expect(places(overflow, limit, priorities)).toBe(result);
  });
});

describe('the barrier', () => {
  test.each<[number, number, boolean, number, boolean]>([
    [2, 4, true, 0.5, true],
    [2, 5, true, 0.5, false],
    [3, 5, true, 0.5, true],
    [1, 3, true, 1 / 3, true],
    [7, 10, true, 0.1 + 0.6, true],
    [3, 10, true, 0.1 + 0.2, true],
    [0, 4, true, 0, true],
    [3, 4, true, 1, false],
    [4, 4, true, 1, true],
    [3, 4, false, 0.5, false],
    [3, 4, false, 0, false],
    [4, 4, false, 1, true],
    [0, 0, false, 1, true],
  ])(
    'with %i of %i completed, partial mode %s and ratio %f passes: %s',
    (completed, total, partial_mode, ratio, passes) => {
      expect(barrierPasses({ completed, total }, { partial_mode, min_completion_ratio: ratio })).toBe(passes);
    },
  );
  test.each([
    [['QUEUED', 'RUNNING'], 'WAITING'],
    [['QUEUED', 'COMPLETED'], 'PARTIAL'],
    [['RUNNING', 'FAILED'], 'PARTIAL'],
    [['COMPLETED', 'EVICTED'], 'COMPLETE'],
    [[], 'COMPLETE'],
  ] as const)('over %j is %s', (states, state) => {
    expect(barrierStateOf(countsOf(states.map((each) => ({ state: each, late: false }))))).toBe(state);
  });
});
