import {
  delegateSchema,
  openTeamSchema,
  spawnAgentsSchema,
  teamMessageSchema,
  waitAgentsSchema,
} from '../../../src/contracts/team.js';
import { planOf } from '../../../src/domain/team/setup.js';
import { parseWhole } from '../../../src/parse.js';

const adapter = { kind: 'scripted', script: [{ final: 'x' }] };
const agent = (agentId: string, over: object = {}) => ({ agent_id: agentId, adapter, prompt: 'go', ...over });
const faults = (body: object): string[] => {
  const parsed = parseWhole(openTeamSchema, body);
  return parsed.ok ? [] : parsed.faults.map(({ path, message }) => `${path} ${message}`);
};

describe('the body that starts a team', () => {
  test('needs an agent with a prompt, and presets the rest', () => {
    expect(openTeamSchema.parse({ agents: [agent('a')] })).toMatchObject({
      keep_open: false,
      subagents_enabled: true,
      agents: [{ role: 'agent', max_rounds: 100, share_session: false, share_context_window: false }],
    });
    expect(faults({ keep_open: true })).toEqual([]);
  });

  test.each<[string, object, string[]]>([
    [
      'nobody to do anything',
      {},
      ['agents must hold an agent with a prompt, or the team would end at once; or set keep_open'],
    ],
    ['no slots', { agents: [agent('a')], max_concurrent: 0 }, ['max_concurrent must be at least 1; got 0']],
    [
      'steps of a budget that cannot be taken',
      {
        agents: [agent('a', { budget: { cheaper_at: 0.5, when_used_up: 'ask' } })],
        budget: { max_usd: 1, cheaper_model: 'small', warn_at: 2 },
      },
      [
        'budget.warn_at must be at most 1; got 2',
        'agents[0].budget.cheaper_model is missing: say which model is cheaper',
        'agents[0].budget.cheaper_at has no effect without max_tokens or max_usd: no model saves time',
        'agents[0].budget.when_used_up has no effect without max_tokens, max_usd or max_seconds',
        'budget.cheaper_at is missing: say from which part of a limit on cheaper_model is asked',
      ],
    ],
    [
      'a time that is no time',
      {
        agents: [agent('a', { budget: { max_seconds: 1.5 } })],
        budget: { max_seconds: 31_536_001, when_used_up: 'ask' },
      },
      [
        'budget.max_seconds must be at most 31536000; got 31536001',
        'agents[0].budget.max_seconds must be a whole number; got 1.5',
      ],
    ],
    [
      'a cheaper model for a time, which it does not save',
      { agents: [agent('a')], budget: { max_seconds: 60, cheaper_at: 0.5, cheaper_model: 'small' } },
      ['budget.cheaper_at has no effect without max_tokens or max_usd: no model saves time'],
    ],
    [
      'a cheaper model that nobody knows when to ask',
      { agents: [agent('a')], budget: { max_usd: 1, cheaper_model: 'small' } },
      ['budget.cheaper_at is missing: say from which part of a limit on cheaper_model is asked'],
    ],
    ['an id twice', { agents: [agent('a'), agent('b'), agent('a')] }, ['agents[2].agent_id "a" is taken by agents[0]']],
    [
      'a blank id',
      { agents: [agent('')] },
      ['agents[0].agent_id must be 1 to 64 letters, digits, ".", "_" or "-", and start with a letter or digit; got ""'],
    ],
    [
      'its own parent',
      { agents: [agent('a', { parent: 'a' })] },
      ['agents[0].parent must be another agent; it is the agent itself'],
    ],
    [
      'a parent that comes later',
      { agents: [agent('a', { parent: 'b' }), agent('b')] },
      ['agents[0].parent "b" must stand before it; it is agents[1]'],
    ],
    ['an unknown parent', { agents: [agent('a', { parent: 'x' })] }, ['agents[0].parent "x" is no agent of this team']],
    [
      'nobody that answers',
      { agents: [agent('a', { adapter: undefined })] },
      ['agents[0].adapter is missing: only an agent with a parent is answered for by its'],
    ],
    [
      'names that stand for no tool',
      {
        agents: [
          agent('a', {
            tools: ['read_file', 'read_*', 'mcp__x__y', 'm*', '*', 'read_files', 'mcp_x'],
            approvals: [{ tool: 'run_comand', when: 'always' }],
            template: { capabilities: { allowed_tools: ['delegate', 'delgate'], forbidden_actions: ['swear'] } },
          }),
        ],
      },
      [
        'agents[0].tools[5] is no tool: "read_files"; there are send_message, spawn_sub_agent, stop_sub_agent, resume_sub_agent, get_agent_status, wait_for_agents, get_context_info, sync_context, delegate, delegate_explore_task, list_files, read_file, search_files, write_file, run_command, and those of MCP servers as mcp__SERVER__TOOL',
        expect.stringMatching(/^agents\[0\]\.tools\[6\] is no tool: "mcp_x"/) as string,
        expect.stringMatching(/^agents\[0\]\.approvals\[0\]\.tool is no tool: "run_comand"/) as string,
        expect.stringMatching(
          /^agents\[0\]\.template\.capabilities\.allowed_tools\[1\] is no tool: "delgate"/,
        ) as string,
      ],
    ],
    [
      'what a template asks for and no team has',
      {
        agents: [
          agent('a', {
            template: {
              parallel: { supports_isolation: false, output_namespace: 'a', aggregation_role: 'aggregator' },
              quality_loop: {
                role: 'critic',
                scoring_rubric: [{ criterion: 'x', weight: 1 }],
                accepts_feedback: false,
              },
            },
          }),
          agent('b', {
            template: {
              parallel: { supports_isolation: true, aggregation_role: 'none' },
              quality_loop: { role: 'none' },
              state: { output_key: 'answer', schema: { type: 'string' } },
            },
          }),
        ],
      },
      [
        expect.stringMatching(/^agents\[0\]\.template\.parallel\.supports_isolation rules a team out/) as string,
        'agents[0].template.parallel.output_namespace a team has no namespaces; leave it out, got "a"',
        'agents[0].template.parallel.aggregation_role must be none, as a team has no fan-in, or be left out; got "aggregator"',
        'agents[0].template.quality_loop.role must be none, or be left out; an agent for "critic" is none of a team, but of a refinement',
        'agents[0].template.quality_loop.scoring_rubric is scored by nobody in a team; leave it out, or start a refinement',
        'agents[0].template.quality_loop.accepts_feedback has no effect in a team, where nobody is sent a critique; leave it out, got false',
      ],
    ],
    [
      'an adapter that nobody calls',
      { agents: [agent('a', { adapter: { kind: 'external' } })] },
      ['agents[0].adapter.kind cannot be external: a worker has to answer a call'],
    ],
    [
      'a lite agent that nobody calls',
      { agents: [agent('a')], lite_agents: [{ role: 'x', adapter: { kind: 'external' } }] },
      ['lite_agents[0].adapter.kind cannot be external: a worker has to answer a call'],
    ],
    [
      'settings that no model has',
      { agents: [agent('a', { model_overrides: { top_p: 1, temperature: 3 } })] },
      [
        'agents[0].model_overrides.top_p cannot be overridden; there are temperature, max_tokens and model; got 1',
        'agents[0].model_overrides.temperature must be a number from 0 to 2; got 3',
      ],
    ],
    [
      'a session of no parent',
      { agents: [agent('a', { share_session: true })] },
      ['agents[0].share_session needs a parent; or name an agent in share_session_with'],
    ],
    [
      'two sessions',
      { agents: [agent('a'), agent('b'), agent('c', { parent: 'a', share_session: true, share_session_with: 'b' })] },
      ['agents[2].share_session_with contradicts share_session, which is about the parent'],
    ],
    [
      'a session and another window',
      { agents: [agent('a'), agent('b'), agent('c', { share_session_with: 'a', share_context_window_with: 'b' })] },
      [
        'agents[2].share_context_window_with must be "a", as who shares a session shares its window, or be left out; got "b"',
      ],
    ],
    [
      'a lite agent of a taken id',
      { agents: [agent('a')], lite_agents: [{ agent_id: 'a', role: 'r', adapter }] },
      ['lite_agents[0].agent_id "a" is taken by agents[0]'],
    ],
    [
      'a lite agent twice',
      {
        keep_open: true,
        lite_agents: [
          { agent_id: 'l', role: 'r', adapter },
          { agent_id: 'l', role: 'r', adapter },
        ],
      },
      ['lite_agents[1].agent_id "l" is taken by lite_agents[0]'],
    ],
    [
      'a limit of no tokens',
      { agents: [agent('a', { shared_context_window_max_tokens: 0 })] },
      ['agents[0].shared_context_window_max_tokens must be at least 1; got 0'],
    ],
  ])('with %s is refused', (_, body, expected) => {
    expect(faults(body)).toEqual(expected);
  });

  test('names all its faults at once', () => {
    expect(
      faults({ agents: [agent('a', { parent: 'a', share_session_with: 'x' }), agent('a')], max_concurrent: 0 }),
    ).toHaveLength(4);
  });
});

describe('an agent of a body', () => {
  test.each<[object, object]>([
    [{}, { sessionOf: null, windowOf: null, maxTokens: null }],
    [{ parent: 'p' }, { sessionOf: null, windowOf: null, maxTokens: null }],
    [
      { parent: 'p', share_session: true },
      { sessionOf: 'p', windowOf: 'p', maxTokens: null },
    ],
    [
      { parent: 'p', share_context_window: true },
      { sessionOf: null, windowOf: 'p', maxTokens: null },
    ],
    [{ share_session_with: 'q' }, { sessionOf: 'q', windowOf: 'q', maxTokens: null }],
    [
      { parent: 'p', share_context_window_with: 'q', shared_context_window_max_tokens: 7 },
      { sessionOf: null, windowOf: 'q', maxTokens: 7 },
    ],
  ])('with %j shares so', (over, sharing) => {
    const body = spawnAgentsSchema.parse(agent('a', over));
    expect(Array.isArray(body) ? null : planOf(body).sharing).toEqual(sharing);
  });
});

describe('the body of a call', () => {
  const fails = (schema: { safeParse: (body: unknown) => { success: boolean } }, body: object) =>
    !schema.safeParse(body).success;
  test('takes one agent or a list of them, not an empty one', () => {
    expect([
      fails(spawnAgentsSchema, agent('a')),
      fails(spawnAgentsSchema, [agent('a')]),
      fails(spawnAgentsSchema, []),
    ]).toEqual([false, false, true]);
  });

  test.each<[string, object, string[]]>([
    [
      'of one agent',
      agent('a', { role: 5, template: { identity: { cognitive_mode: 'x' } }, share_session: true }),
      [
        'role must be a text; got 5',
        'template.identity.cognitive_mode must be divergent, convergent or mixed; got "x"',
        'share_session needs a parent; or name an agent in share_session_with',
      ],
    ],
    ['of a list', [agent('a'), agent('b', { colour: 1 })], ['[1].colour unknown field "colour"; it takes agent_id,']],
    [
      'of a choice within',
      agent('a', { approvals: [{ tool: 'run_command', when: { argument: 'a', matches: [] } }] }),
      ['approvals[0].when.matches must have at least 1 entry; got 0'],
    ],
  ])('names every fault %s', (_, body, told) => {
    const parsed = parseWhole(spawnAgentsSchema, body);
    const found = parsed.ok ? [] : parsed.faults.map(({ path, message }) => `${path} ${message}`);
    expect(found).toEqual(
      told.map((start) => expect.stringMatching(new RegExp(`^${start.replace(/[[\]().]/g, '\\$&')}`))),
    );
  });

  test('spawns nobody whose wishes for its context cannot be had', () => {
    expect(fails(spawnAgentsSchema, agent('a', { share_session: true }))).toBe(true);
    expect(fails(spawnAgentsSchema, [agent('a'), agent('b', { adapter: { kind: 'external' } })])).toBe(true);
  });

  test('spawns nobody whose template asks for what no team has', () => {
    const parsed = parseWhole(spawnAgentsSchema, [
      agent('a'),
      agent('b', { template: { quality_loop: { accepts_feedback: true } } }),
    ]);
    expect(parsed.ok ? [] : parsed.faults.map(({ path }) => path)).toEqual([
      '[1].template.quality_loop.accepts_feedback',
    ]);
  });

  test('waits for all where it names nobody, and for no time below 0', () => {
    expect([waitAgentsSchema.parse({}), fails(waitAgentsSchema, { timeout_ms: -1 })]).toEqual([
      { agent_ids: [] },
      true,
    ]);
  });

  test('sends to one or to several', () => {
    const said = [{}, { target: 'a' }, { targets: ['a'] }, { target: 'a', targets: ['b'] }, { targets: [] }];
    expect(said.map((to) => fails(teamMessageSchema, { content: 'x', ...to }))).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  test('delegates an empty text, and not null', () => {
    const said = ['', 'x', null, undefined];
    expect(said.map((content) => fails(delegateSchema, { parent: 'a', child: 'b', content }))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
