import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TeamDurableEvent } from '../../src/contracts/team-events.js';
import type { AgentStateName, AgentStatus, TeamStatus } from '../../src/contracts/team-status.js';
import { agentStatusExample, teamStatusExample } from '../../src/gateway/routes/team-examples.js';

interface Agent {
  agentId: string;
  parent: string | null;
  role: string;
  state: AgentStateName;
  turns: number;
  queued: number;
  text: string;
  answer: unknown;
}
interface Model {
  status: TeamStatus | null;
  agents: Map<string, Agent>;
}
interface TeamModel {
  createModel: () => Model;
  modelAt: (status: TeamStatus) => Model;
  takeStatus: (model: Model, status: TeamStatus) => void;
  takeEvent: (model: Model, event: TeamDurableEvent & { id: number }) => void;
  takePartial: (model: Model, partial: { lane_id: string; attempt: number; offset: number; text: string }) => boolean;
  talkOf: (model: Model, agentId?: string) => TeamDurableEvent[];
}
interface TeamTree {
  countsOf: (model: Model) => { name: string; count: number }[];
  rowsOf: (model: Model, sought?: { group?: string; words?: string }) => { agent: Agent; depth: number }[];
}
interface TeamWords {
  budgetWords: (budget?: object) => { used: string; warning: string | null } | null;
  titleOf: (status: TeamStatus) => string;
  nowWords: (model: Model) => string;
  describeEvent: (event: TeamDurableEvent) => [string, string];
}
const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(resolve('src/page', file)).href)) as T;
const page = await load<TeamModel>('team-model.js');
const { openRequest } = await load<{ openRequest: (status: object) => object | null }>('model.js');
const tree = await load<TeamTree>('team-tree.js');
const words = await load<TeamWords>('team-words.js');

const at = '2026-11-21T10:00:00.000Z';
const told = (agentId: string, over: Partial<AgentStatus> = {}): AgentStatus => ({
  ...agentStatusExample,
  ...{ agent_id: agentId, parent: null, streaming: false, text: null },
  ...over,
});
const of = (...agents: AgentStatus[]): TeamStatus => ({ ...teamStatusExample, agents });
let id = 0;
const hear = (model: Model, ...events: TeamDurableEvent[]): void => {
  for (const event of events) page.takeEvent(model, { ...event, id: (id += 1) });
};
const moves = (
  agentId: string,
  state: AgentStateName,
  turn: number,
  parent: string | null = null,
): TeamDurableEvent => ({
  event: 'agent',
  data: { at, agent_id: agentId, role: 'agent', parent, state, turn, error: null },
});
const says = (model: Model, lane: string, attempt: number, offset: number, text: string): boolean =>
  page.takePartial(model, { lane_id: lane, attempt, offset, text });
const names = (rows: { agent: Agent; depth: number }[]): string[] =>
  rows.map(({ agent, depth }) => `${'-'.repeat(depth)}${agent.agentId}`);

describe('the tree of a team', () => {
  const model = page.modelAt(
    of(
      told('a'),
      told('b', { role: 'reader' }),
      told('c', { parent: 'a', state: 'PAUSED' }),
      told('d', { parent: 'c' }),
    ),
  );

  test('has children below their parents, and those of one group or with some words side by side', () => {
    expect(names(tree.rowsOf(model))).toEqual(['a', '-c', '--d', 'b']);
    expect(names(tree.rowsOf(model, { group: 'paused' }))).toEqual(['c']);
    expect(names(tree.rowsOf(model, { words: ' READ' }))).toEqual(['b']);
    expect(names(tree.rowsOf(model, { group: 'running', words: 'd' }))).toEqual(['b', 'd']);
  });

  test('counts its agents so that they add up', () => {
    const states = ['PENDING', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
    const all = page.modelAt(
      of(...states.map((state) => told(state, { state })), told('idle', { state: 'PENDING', turns: 0 })),
    );
    const counts = tree.countsOf(all);
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(7);
    expect(counts.find(({ name }) => name === 'not asked')?.count).toBe(1);
  });
});

describe('what is known of an agent', () => {
  test('is not taken back by a status of before, nor by an event of before', () => {
    const model = page.modelAt(of(told('a', { turns: 1, queued: 1 })));
    hear(model, moves('a', 'COMPLETED', 1), moves('a', 'PENDING', 1), moves('a', 'RUNNING', 2));
    expect(model.agents.get('a')).toMatchObject({ state: 'RUNNING', turns: 2, queued: 0 });
    page.takeStatus(model, of(told('a', { turns: 1, state: 'COMPLETED', result: 'old' })));
    expect(model.agents.get('a')).toMatchObject({ state: 'RUNNING', turns: 2, answer: null });
    page.takeStatus(model, of(told('a', { turns: 3, state: 'COMPLETED', result: 'new' })));
    hear(model, moves('a', 'COMPLETED', 2));
    expect(model.agents.get('a')).toMatchObject({ state: 'COMPLETED', turns: 3, answer: 'new' });
  });

  test.each<[AgentStateName, AgentStateName]>([
    ['RUNNING', 'PAUSED'],
    ['PAUSED', 'RUNNING'],
    ['PENDING', 'CANCELLED'],
  ])('goes from %s to %s within a turn', (from, to) => {
    const model = page.modelAt(of(told('a', { state: from })));
    hear(model, moves('a', to, 1));
    expect(model.agents.get('a')?.state).toBe(to);
  });

  test('has its words apart from those of others, anew with each call and each turn', () => {
    const model = page.modelAt(of(told('a'), told('b')));
    expect([says(model, 'a', 1, 0, 'one'), says(model, 'b', 1, 0, 'two'), says(model, 'a', 1, 3, ' more')]).toEqual([
      true,
      true,
      true,
    ]);
    says(model, 'b', 1_001, 0, 'again');
    says(model, 'b', 1, 3, ' late');
    expect([...model.agents.values()].map(({ text }) => text)).toEqual(['one more', 'again']);
    expect(says(model, 'a', 1, 50, 'far')).toBe(false);
    hear(model, moves('a', 'RUNNING', 2));
    expect(model.agents.get('a')?.text).toBe('');
    page.takeStatus(model, of(told('a', { turns: 2, streaming: true, text: 'unheard' })));
    expect(model.agents.get('a')).toMatchObject({ text: '', rest: 'unheard' });
    expect(says(model, 'nobody', 1, 9, 'x')).toBe(true);
  });

  test('is forgotten once it is cleaned up; its children are its parent’s, and its id is free', () => {
    const model = page.modelAt(of(told('a'), told('b', { parent: 'a', turns: 4 }), told('c', { parent: 'b' })));
    hear(model, { event: 'agent_removed', data: { at, agent_id: 'b' } });
    expect(names(tree.rowsOf(model))).toEqual(['a', '-c']);
    hear(model, moves('b', 'RUNNING', 1));
    expect(model.agents.get('b')).toMatchObject({ state: 'RUNNING', turns: 1 });
  });
});

describe('a team in words', () => {
  test('is named by its agents, however many', () => {
    expect(words.titleOf(of())).toBe('A team without agents yet');
    expect(words.titleOf(of(told('a')))).toBe('1 agent: a');
    expect(words.titleOf(of(...['a', 'b', 'c', 'd', 'e'].map((name) => told(name))))).toBe(
      '5 agents: a, b, c and 2 more',
    );
  });

  test('says who talks to whom, for all and for one of them', () => {
    const model = page.modelAt(of(told('a'), told('b')));
    const message: TeamDurableEvent = {
      event: 'message',
      data: { at, from: null, to: 'a', channel: null, content: 'Mind <b>this</b>', metadata: {} },
    };
    const delegation: TeamDurableEvent = {
      event: 'delegation',
      data: {
        ...{ delegation_id: '0a1b2c3d4e5f', parent: 'a', child: 'b', state: 'completed' },
        ...{ background: true, at, error: null },
      },
    };
    hear(model, message, delegation, moves('a', 'RUNNING', 2));
    expect(page.talkOf(model).map(({ event }) => event)).toEqual(['message', 'delegation']);
    expect(page.talkOf(model, 'b').map(({ event }) => event)).toEqual(['delegation']);
    expect([message, delegation].map(words.describeEvent)).toEqual([
      ['message', 'a person → a: Mind <b>this</b>'],
      ['delegation', 'a ⇢ b: completed'],
    ]);
    expect(words.nowWords(model)).toBe('2 agents run');
  });

  test('asks the open request, and nothing once it is over', () => {
    const feedback = ['open', 'answered'].map((state) => ({ state }));
    expect(openRequest({ ended_at: null, feedback: [] })).toBeNull();
    expect(openRequest({ ended_at: null, feedback })).toBe(feedback[0]);
    expect(openRequest({ ended_at: at, feedback })).toBeNull();
  });

  test.each<[string, object, string | null]>([
    ['has room', {}, null],
    ['is nearly used up', { steps: ['warn'] }, 'Nearly used up.'],
    [
      'is nearly used up, and has a cheaper model',
      { steps: ['warn', 'cheaper_model'], cheaper_model: 'small' },
      'Nearly used up. Hosted agents are asked with small.',
    ],
    [
      'asks',
      { steps: ['warn', 'ask'], state: 'asking' },
      'The next call does not fit, and a person is asked for more.',
    ],
    ['is used up', { steps: ['warn', 'stop'] }, 'Used up: calls of models are refused.'],
    ['was stopped', { steps: ['warn', 'ask'], state: 'stopped' }, 'Stopped: calls of models are refused.'],
  ])('says of a budget that %s how much is used, and what comes of it', (_, over, warning) => {
    const budget = { max_usd: '1', max_tokens: 2_000, spent: { usd: '0.9', tokens: 1_500 }, steps: [], state: 'open' };
    const used = '$0.9 of $1, 1,500 of 2,000 tokens';
    expect(words.budgetWords({ ...budget, cheaper_model: null, ...over })).toEqual({ used, warning });
    expect(words.budgetWords()).toBeNull();
    const time = { max_ms: 60_000, elapsed_ms: 12_300, ends_at: null };
    const timed = { ...budget, max_usd: null, max_tokens: null, time };
    expect(words.budgetWords(timed)?.used).toBe('12.3 s of 60.0 s');
    const ended = new Date(Date.now() - 20_000).toISOString();
    expect(words.budgetWords({ ...timed, time: { ...time, ends_at: ended } })?.used).toMatch(/^8\d\.\d s of 60\.0 s$/);
  });
});
