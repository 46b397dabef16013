import { openTeamSchema } from '../../../src/contracts/team.js';
import { plansOf, setUpTeam, type TeamOperator } from '../../../src/domain/team/set-up-team.js';

const prices: Record<string, number> = { large: 1_000, small: 10 };

/** Knows two models by their names, and what they cost. */
const operator: TeamOperator = {
  policyFault: () => null,
  estimate: (adapter) => {
    const model = 'model' in adapter ? adapter.model : 'large';
    const usdMicros = prices[model];
    return usdMicros === undefined ? { unpriced: `${model} has no price` } : { tokens: 1, usdMicros };
  },
  window: () => ({ maxTotal: 1, perLane: 1 }) as never,
  maxConcurrent: 10,
  backgroundAllowed: true,
  windowTokens: null,
  explorer: null,
};
const identity = {
  id: 't',
  traceId: '0'.repeat(32),
  webUiUrl: '',
  webhooks: [],
  startedBy: null,
  requiresAuthentication: false,
};
const hosted = (agentId: string, over: object = {}) => ({
  agent_id: agentId,
  adapter: { kind: 'openai', model: 'large' },
  prompt: 'go',
  ...over,
});
const setUp = (agents: object[], budget: object) =>
  setUpTeam(openTeamSchema.parse({ agents, budget }), identity as never, operator);
const cheapers = (agents: object[], budget: object): unknown => {
  const done = setUp(agents, budget);
  return 'faults' in done
    ? done.faults
    : done.setup.agents.map(({ cheaper }) => cheaper && [cheaper.model, cheaper.price.likely.estimate.usdMicros]);
};

describe('the cheaper model of a team that is set up', () => {
  const budget = { max_usd: 1, cheaper_at: 0.5, cheaper_model: 'small' };

  test('is that of every hosted agent, with its price, and of nobody else', () => {
    const scripted = { agent_id: 'b', adapter: { kind: 'scripted', script: [{ final: 'x' }] }, prompt: 'go' };
    expect(cheapers([hosted('a'), scripted], budget)).toEqual([['small', 10], undefined]);
    expect(cheapers([hosted('a')], { max_usd: 1 })).toEqual([undefined]);
  });

  test('is the nearest that is named: of the agent, of one above it, of the team', () => {
    const own = { budget: { cheaper_model: 'large' } };
    const agents = [hosted('a', own), hosted('b', { parent: 'a' }), hosted('c')];
    expect(cheapers(agents, budget)).toEqual([
      ['large', 1_000],
      ['large', 1_000],
      ['small', 10],
    ]);
  });

  test.each<[string, object[], object, object[]]>([
    [
      'one that has no price, once',
      [hosted('a'), hosted('b')],
      { ...budget, cheaper_model: 'tiny' },
      [{ path: 'budget.cheaper_model', message: 'tiny has no price' }],
    ],
    [
      'one of an agent, by its path',
      [hosted('a', { budget: { cheaper_model: 'tiny' } })],
      {},
      [{ path: 'agents[0].budget.cheaper_model', message: 'tiny has no price' }],
    ],
    [
      'one of an agent that somebody else answers for',
      [hosted('a'), { agent_id: 'b', parent: 'a', budget: { cheaper_model: 'small' } }],
      {},
      [
        {
          path: 'agents[1].budget.cheaper_model',
          message: 'needs an adapter beside it, whose model it takes the place of',
        },
      ],
    ],
  ])('is refused at the start where it is %s', (_, agents, of, faults) => {
    expect(cheapers(agents, of)).toEqual(faults);
  });

  test('keeps the steps beside the limits', () => {
    const done = setUp([hosted('a')], { ...budget, max_tokens: 5, warn_at: 0.29, when_used_up: 'ask' });
    expect('setup' in done && done.setup.budget).toEqual({
      maxTokens: 5,
      maxUsdMicros: 1_000_000,
      warnPercent: 29,
      cheaperPercent: 50,
      cheaperModel: 'small',
      asks: true,
    });
  });
});

describe('where background agents are switched off', () => {
  const off = { ...operator, backgroundAllowed: false };
  const refusal =
    'must be false, or be left out: background agents are switched off here (PARLEY_USE_BACKGROUND_AGENTS=false)';
  const openOf = (...agents: object[]) => openTeamSchema.parse({ agents });

  test('a team is refused that asks for them, by path', () => {
    const body = openOf(hosted('a'), hosted('b', { background: true }), hosted('c', { background: false }));
    expect(setUpTeam(body, identity as never, off)).toEqual({
      faults: [{ path: 'agents[1].background', message: refusal }],
    });
    expect(setUpTeam(body, identity as never, operator)).toHaveProperty('setup');
  });

  test('agents that are added are refused so, too, and work in the foreground where they say nothing', () => {
    const path = (index: number) => `[${index}]`;
    const { agents } = openOf(hosted('a'), hosted('b', { background: true }));
    expect(plansOf(agents, 'default', off, path)).toEqual({ faults: [{ path: '[1].background', message: refusal }] });
    const backgrounds = (by: typeof operator) => {
      const planned = plansOf(agents.slice(0, 1), 'default', by, path);
      return 'plans' in planned && planned.plans.map(({ background }) => background);
    };
    expect([backgrounds(off), backgrounds(operator)]).toEqual([[false], [true]]);
  });
});

describe('a team of which one agent cannot be spawned', () => {
  const adapter = { kind: 'scripted', script: [{ final: 'x' }] };
  const agent = (agentId: string, over: object = {}) => ({ agent_id: agentId, adapter, prompt: 'go', ...over });
  const line = Array.from({ length: 10 }, (_, index) =>
    agent(`d${index}`, index === 0 ? {} : { parent: `d${index - 1}` }),
  );

  test.each<[string, object, string, RegExp]>([
    [
      'as its instructions have no room',
      { agents: [agent('a'), agent('b', { instructions: 'x'.repeat(400), shared_context_window_max_tokens: 10 })] },
      'agents[1]',
      /^agent "b" has no room for this: 90 tokens more than the 10 of its window/,
    ],
    ['as it is too deep', { agents: line }, 'agents[9]', /^agent "d8" has 8 agents above it and can have none below/],
    [
      'as its id is that of a lite agent',
      { agents: [agent('lite-w-1')], lite_agents: [{ role: 'w', adapter }] },
      'agents[0]',
      /^the id "lite-w-1" is in use; it is a lite agent: give another id/,
    ],
  ])('is refused %s', (_, body, path, message) => {
    const refused = setUpTeam(openTeamSchema.parse(body), identity as never, operator);
    expect(refused).toEqual({ faults: [{ path, message: expect.stringMatching(message) }] });
  });

  test('is refused by the window of the operator, and not where all have room', () => {
    const body = openTeamSchema.parse({ agents: [agent('a', { instructions: 'x'.repeat(400) })] });
    expect(setUpTeam(body, identity as never, { ...operator, windowTokens: 99 })).toHaveProperty('faults');
    expect(setUpTeam(body, identity as never, { ...operator, windowTokens: 200 })).toHaveProperty('setup');
  });
});
