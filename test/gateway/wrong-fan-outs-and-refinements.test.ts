import request from 'supertest';
import type { Problem } from '../../src/contracts/problem.js';
import { aFanOut, anAgent, aTask } from '../support/fan-out-bodies.js';
import { aRefinement } from '../support/refinement-bodies.js';
import type { FakeWork } from './fake-work.js';
import { createRig } from './rig.js';

type Body = Record<string, unknown>;
type Part = Body | unknown[];

const partsOf = (path: string): string[] => path.split(/[.[\]]+/).filter((part) => part !== '');
const within = (part: Part, name: string): unknown => (Array.isArray(part) ? part[Number(name)] : part[name]);

/** The body with another value at a path; undefined: without it. What is on the way is made where it is missing. */
const put = (body: object, path: string, value: unknown): Body => {
  const changed = structuredClone(body) as Body;
  const names = partsOf(path);
  let at: Part = changed;
  for (const name of names.slice(0, -1)) {
    if (within(at, name) === undefined) Object.assign(at, { [name]: {} });
    at = within(at, name) as Part;
  }
  Object.assign(at, { [names.at(-1)!]: value });
  return changed;
};

const rig = createRig();
const answered = async (kind: string, body: object): Promise<string[]> => {
  const answer = await request(rig.app).post(`/v1/${kind}`).send(body);
  expect([answer.status, answer.headers['content-type']]).toEqual([
    422,
    expect.stringMatching(/^application\/problem\+json/),
  ]);
  const { code, errors = [] } = answer.body as Problem;
  expect(code).toBe('invalid_request');
  for (const { message } of errors) expect(message.length).toBeGreaterThan(8);
  return errors.map(({ path }) => path);
};
/** A row for each wrong value of a field. */
const rows = (table: Record<string, unknown[]>): [string, string, unknown][] =>
  Object.entries(table).flatMap(([path, values]) =>
    values.map((value): [string, string, unknown] => [
      path,
      value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 60),
      value,
    ]),
  );

const adapter = { kind: 'scripted' as const, script: [{ final: 'x' }] };
const notText = [7, null, {}];
const notName = ['', 'a b', '.a', 'a/b', 'x'.repeat(65), 7];
const notNumber = ['5', null, true];
const wholeFrom = (least: number, most?: number): unknown[] => [
  ...notNumber,
  least - 1,
  least + 0.5,
  ...(most === undefined ? [] : [most + 1]),
];
const notShare = [...notNumber, -0.01, 1.01];
const notYesOrNo = ['yes', 1, null];
const notAdapter = [undefined, null, 'scripted', {}, { kind: 'oracle' }, { kind: 'external' }];
const common = {
  id: ['', 'a b', '-a', 'x'.repeat(129), 7],
  tenant: ['', 'a b', 'x'.repeat(65), 7, null],
  labels: ['x', { a: 1 }, { '': 'x' }, { a: 'x'.repeat(257) }],
  budget: [7, null, { max_tokens: -1 }, { max_usd: -1 }, { max_usd: '1' }, { max_yen: 1 }],
  'budget.max_seconds': wholeFrom(1, 31_536_000),
  webhooks: [['http://x'], 'x'],
  colour: ['red'],
};
const template = {
  colour: ['red'],
  'identity.cognitive_mode': ['wild', 1],
  'identity.expertise': ['x', [1]],
  'persona.tone': ['', 1],
  'capabilities.allowed_tools': [['read'], 'read'],
  'capabilities.forbidden_actions': ['read', [1]],
  'state.schema': [
    'object',
    { type: 'objekt' },
    { properties: 3 },
    { type: 'object', required: 'a' },
    { properties: { a: { type: 'nope' } } },
    { $ref: '#/definitions/none' },
    { type: 'string', pattern: '(' },
    { type: 'number', minimum: 'x' },
    { enum: 'x' },
    { items: 7 },
  ],
  'state.output_key': ['', 7, 'x'.repeat(65)],
  'parallel.output_namespace': ['elsewhere', 7],
  'parallel.aggregation_role': ['boss'],
  'quality_loop.role': ['judge'],
  'quality_loop.scoring_rubric': [[], 'x'],
  'quality_loop.accepts_feedback': notYesOrNo,
  'checkpoint.triggers': [['on_monday'], 'on_error'],
  'checkpoint.include_artifacts': notYesOrNo,
  'checkpoint.max_size_kb': wholeFrom(1, 1_000_000),
};
const below = (prefix: string, table: Record<string, unknown[]>): Record<string, unknown[]> =>
  Object.fromEntries(Object.entries(table).map(([path, values]) => [`${prefix}.${path}`, values]));

/** A fault stands at the path, or in what it holds. */
const isAt = (given: string, path: string): boolean => given === path || given.startsWith(path);

describe('a fan-out is refused, by the path, and nothing is started', () => {
  const right = aFanOut({ agents: [anAgent('a'), anAgent('b')], fan_out: { tasks: [aTask('t1'), aTask('t2')] } });
  const task = 'fan_out.tasks[1]';
  test.each(
    rows({
      ...common,
      workflow_id: ['mine', 7, ''],
      agents: ['a', {}, [7]],
      'agents[1].agent_id': [undefined, ...notName, 'a'],
      'agents[1].capabilities': ['x', [1], ['']],
      'agents[1].adapter': notAdapter.slice(1),
      'agents[1].colour': ['red'],
      ...below('agents[1].template', template),
      'agents[1].template.parallel.supports_isolation': [false, ...notYesOrNo],
      fan_out: [undefined, null, 7],
      'fan_out.colour': ['red'],
      'fan_out.strategy': [undefined, 'random', 7],
      'fan_out.max_concurrent': [...wholeFrom(1), 6, 1_001],
      'fan_out.queue_overflow': ['drop', 7],
      'fan_out.queue_limit': wholeFrom(0),
      'fan_out.topic_routing': ['x', { a: 'b' }, { a: { agents: [] } }, { a: { agents: ['a'], affinity: 'near' } }],
      'fan_out.tasks': [undefined, 'x', {}],
      [`${task}.task_id`]: [undefined, ...notName, 't1'],
      [`${task}.prompt`]: [...notText, ''],
      [`${task}.agent`]: ['a b', 7],
      [`${task}.topic`]: ['', 7],
      [`${task}.domain`]: ['', 7],
      [`${task}.priority`]: [...notNumber, 0.5, 1_000_001],
      [`${task}.requires`]: ['x', [1]],
      [`${task}.input_artifacts`]: [undefined, 'x', ['/etc/passwd'], ['../x'], [{ path: 'x' }], ['x', 'x']],
      [`${task}.adapter`]: notAdapter.slice(1),
      [`${task}.colour`]: ['red'],
      barrier: [undefined, null, 7],
      'barrier.timeout_ms': wholeFrom(1, 86_400_000),
      'barrier.partial_mode': notYesOrNo,
      'barrier.min_completion_ratio': notShare,
      'barrier.colour': ['red'],
      fan_in: [undefined, null, 7],
      'fan_in.aggregation_strategy': [undefined, 'vote', 7],
      'fan_in.conflict_resolution': ['louder', 7],
      'fan_in.adapter': notAdapter.slice(1),
      'fan_in.agreement': [7, { method: 'judge' }, { method: 'choice' }, { similarity_threshold: 2 }],
      'fan_in.function': ['count', 'a b', 7],
      'fan_in.colour': ['red'],
      'fan_in.quality': [7, {}, { critic: { adapter: { kind: 'external' } } }],
    }),
  )('%s: %s', async (path, _, value) => {
    const given = await answered('fan-outs', put(right, path, value));
    expect(given.some((fault) => isAt(fault, path))).toBe(true);
    expect((rig.ports.fanOuts as unknown as FakeWork<never, never>).started).toEqual([]);
  });

  test.each<[string, object, string[]]>([
    [
      'an orchestrator that is missing',
      aFanOut({ fan_in: { conflict_resolution: 'orchestrator_decides' } }),
      ['fan_in.adapter'],
    ],
    ['a function that is missing', aFanOut({ fan_in: { aggregation_strategy: 'custom' } }), ['fan_in.function']],
    [
      'a critic out of its range',
      aFanOut({ fan_in: { quality: { critic: { adapter, scoring: [] }, threshold: 1.1 } } }),
      ['fan_in.quality.critic.scoring', 'fan_in.quality.threshold'],
    ],
    [
      'tasks that nobody takes',
      aFanOut({ fan_out: { strategy: 'capability_match', tasks: [aTask('t1', { requires: ['flying'] })] } }),
      ['fan_out.tasks[0]'],
    ],
    [
      'a route to nobody',
      aFanOut({
        fan_out: {
          strategy: 'topic_based',
          topic_routing: { x: { agents: ['z'] } },
          tasks: [aTask('t1', { agent: 'a' })],
        },
      }),
      ['fan_out.topic_routing.x.agents[0]'],
    ],
    [
      'two aggregators',
      aFanOut({
        agents: [
          anAgent('a'),
          ...['b', 'c'].map((id) => anAgent(id, { template: { parallel: { aggregation_role: 'aggregator' } } })),
        ],
      }),
      ['fan_in.conflict_resolution'],
    ],
    [
      'a model that is not its adapter’s',
      aFanOut({
        agents: [
          anAgent('a', {
            adapter: { kind: 'openai', model: 'small' },
            template: { identity: { model: 'large' } },
          }),
        ],
      }),
      ['agents[0].template.identity.model'],
    ],
    [
      'all of these, each by its path',
      {
        ...aFanOut({ agents: [anAgent('a'), anAgent('a')], fan_out: { tasks: [aTask('t'), aTask('t')] } }),
        barrier: {},
        fan_in: { aggregation_strategy: 'custom' },
      },
      ['agents[1].agent_id', 'fan_out.tasks[1].task_id', 'fan_in.function'],
    ],
  ])('with %s', async (_, body, paths) => {
    expect(await answered('fan-outs', body)).toEqual(paths);
  });

  test('but the right one is started', async () => {
    expect((await request(createRig().app).post('/v1/fan-outs').send(right)).status).toBe(202);
  });
});

describe('a refinement is refused, by the path, and nothing is started', () => {
  const right = aRefinement();
  const agent = {
    agent_id: ['', 'a b', 7],
    adapter: notAdapter,
    instructions: [...notText, ' '],
    temperature: [...notNumber, -0.1, 2.1],
    colour: ['red'],
  };
  test.each(
    rows({
      ...common,
      task: [undefined, ...notText, ' '],
      generator: [undefined, null, 'me'],
      critic: [undefined, null, 'me'],
      ...below('generator', agent),
      ...below('critic', agent),
      ...below('generator.template', template),
      ...below('critic.template', template),
      'generator.template.identity.cognitive_mode': ['convergent', 'mixed'],
      'critic.template.identity.cognitive_mode': ['divergent', 'mixed'],
      'generator.template.quality_loop.role': ['critic', 'none'],
      'critic.template.quality_loop.role': ['generator', 'none'],
      'generator.template.state.schema': [{ type: 'object' }],
      'generator.template.state.output_key': ['mine'],
      'critic.scoring': [7, null, { colour: 'red' }],
      'critic.scoring.rubric': [
        [],
        'x',
        [{ criterion: 'a' }],
        [{ criterion: '', weight: 1 }],
        [{ criterion: 'a', weight: -1 }],
        [{ criterion: 'a', weight: 0 }],
        [
          { criterion: 'a', weight: 1 },
          { criterion: 'a', weight: 1 },
        ],
      ],
      loop_control: [null, 7],
      'loop_control.max_iterations': wholeFrom(1, 5),
      'loop_control.quality_threshold': notShare,
      'loop_control.improvement_threshold': notShare,
      'loop_control.iteration_timeout_ms': wholeFrom(1, 86_400_000),
      'loop_control.min_iterations': [1],
      output: [null, 7],
      'output.keep_history': notYesOrNo,
      'output.output_best': notYesOrNo,
      'output.colour': ['red'],
    }),
  )('%s: %s', async (path, _, value) => {
    const given = await answered('refinements', put(right, path, value));
    expect(given.some((fault) => isAt(fault, path))).toBe(true);
    expect((rig.ports.refinements as unknown as FakeWork<never, never>).started).toEqual([]);
  });
});
