import type { AgentCommand, AgentToolName } from '../../../src/contracts/agent-tools.js';
import type { Json } from '../../../src/contracts/frames.js';
import { checkAgentCommand } from '../../../src/agent-commands.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const commandOf = (tool: AgentToolName, given: Record<string, Json>): AgentCommand => {
  const checked = checkAgentCommand(tool, given);
  if ('faults' in checked) throw new Error(checked.faults.join());
  return checked.command;
};
let calls = 0;
/** What an agent's call is answered at once; undefined: nothing yet. */
const call = (play: TeamPlay, agentId: string, tool: AgentToolName, given: Record<string, Json> = {}, run?: number) => {
  const callId = `c${(calls += 1)}`;
  const turn = run ?? play.agent(agentId).turn?.run ?? 0;
  play.take({ type: 'COMMAND', agentId, run: turn, callId, command: commandOf(tool, given) });
  return { callId, answer: answerTo(play, callId) };
};
const answerTo = (play: TeamPlay, callId: string): Json | undefined =>
  play.done('answer_call').find((effect) => effect.callId === callId)?.answer;

describe('a call of a turn', () => {
  test('that spawns begins an agent with what its parent may do', () => {
    const play = new TeamPlay([plan('a', { tools: ['spawn_sub_agent', 'read_file'], max_rounds: 7 })]);
    const { answer } = call(play, 'a', 'spawn_sub_agent', { id: 'b', initial_prompt: 'count' });
    expect(answer).toEqual({ status: 'ok', agents: ['b'] });
    expect(play.agent('b')).toMatchObject({
      state: 'RUNNING',
      plan: { parent: 'a', tools: ['spawn_sub_agent', 'read_file'], maxRounds: 7 },
    });
    expect(call(play, 'a', 'spawn_sub_agent', { id: 'b' }).answer).toMatchObject({ status: 'error', code: 'conflict' });
  });

  test('that waits is answered when those have ended, and by nobody twice', () => {
    const play = new TeamPlay([plan('a'), plan('b')]);
    const { callId, answer } = call(play, 'a', 'wait_for_agents', { ids: ['b'], timeout: 60 });
    expect(answer).toBeUndefined();
    play.after(1_500).ends('b', 'blue');
    expect(answerTo(play, callId)).toEqual({
      status: 'ok',
      agents: [{ id: 'b', state: 'COMPLETED', result: 'blue' }],
      waited_ids: ['b'],
      elapsed_seconds: 1.5,
    });
    play.after(60_000);
    expect(play.done('answer_call').filter((effect) => effect.callId === callId)).toHaveLength(1);
    expect(play.done('answer_wait')).toEqual([]);
  });

  test('that delegates is answered with the child’s answer, or at once where it works in the background', () => {
    const play = new TeamPlay([plan('a'), idle('b', { parent: 'a' })]);
    const waited = call(play, 'a', 'delegate', { child: 'b', content: 'count' });
    expect(waited.answer).toBeUndefined();
    play.ends('b', 3);
    expect(answerTo(play, waited.callId)).toMatchObject({ agents: [{ id: 'b', result: 3 }] });
    const { answer } = call(play, 'a', 'delegate', { child: 'b', content: 'again', background: true });
    expect(answer).toMatchObject({ status: 'started', delegation_id: expect.stringMatching(/^[0-9a-f]{12}$/) });
  });

  test('that asks for states and contexts is told them, and whom there is where the name is unknown', () => {
    const play = new TeamPlay([plan('a', { instructions: 'Be brief.' })]);
    expect(call(play, 'a', 'get_agent_status', { id: 'a' }).answer).toMatchObject({ agent: { state: 'RUNNING' } });
    expect(call(play, 'a', 'get_context_info', { include_stats: true }).answer).toMatchObject({
      status: 'ok',
      agent_id: 'a',
      stats: { messages: { system: 1 } },
    });
    for (const tool of ['get_agent_status', 'get_context_info'] as const)
      expect(call(play, 'a', tool, { id: 'x' }).answer).toMatchObject({
        status: 'error',
        code: 'not_found',
        message: expect.stringContaining('there are a'),
      });
  });

  test('that explores is answered with what an agent with tools that only look has found', () => {
    const explorer = { kind: 'simulated' as const, model: 'small' as const, seed: 1, correlation: 0, failure_rate: 0 };
    const play = new TeamPlay([plan('a')], { explorer });
    const given = { task: 'Where is main?', directory: 'src', max_iterations: 9 };
    const { callId, answer } = call(play, 'a', 'delegate_explore_task', given);
    expect(answer).toBeUndefined();
    expect(play.agent('explore-2')).toMatchObject({
      state: 'RUNNING',
      turn: { content: 'Where is main?\n\nLook in src.', by: 'a' },
      plan: {
        role: 'explorer',
        parent: 'a',
        adapter: explorer,
        maxRounds: 9,
        tools: ['list_files', 'read_file', 'search_files'],
      },
    });
    play.ends('explore-2', 'In src/main.ts.');
    expect(answerTo(play, callId)).toMatchObject({ agents: [{ id: 'explore-2', result: 'In src/main.ts.' }] });
  });

  test.each([
    ['what its last answer said', 1, 'In src/main.ts.', [], 'In src/main.ts.', 'once'],
    ['what it said before that, where that only called tools', 2, '', ['In src.', ' '], 'In src.', '2 times'],
  ])('that explores is answered with %s by its last round, and told that it is unfinished', (...row) => {
    const [, rounds, text, before, kept, asked] = row;
    const play = new TeamPlay([plan('a')]);
    const { callId } = call(play, 'a', 'delegate_explore_task', { task: 'Where is main?', max_iterations: rounds });
    const wrote = before.map((content) => ({ role: 'assistant' as const, content }));
    const outcome = { type: 'thrown' as const, code: 'round_limit', message: `asked ${asked}` };
    const { run } = play.agent('explore-2').turn!;
    const usage = { tokens: 0, usdMicros: 0 };
    play.take({ type: 'ENDED', agentId: 'explore-2', run, outcome, text, usage, wrote });
    const result = `${kept}\n\n[unfinished: it was asked ${asked}, the most that it may be, and still wanted to look further]`;
    expect(answerTo(play, callId)).toMatchObject({ agents: [{ id: 'explore-2', state: 'COMPLETED', result }] });
  });

  test.each([
    ['round_limit', [], undefined],
    ['EBUDGET', [{ role: 'assistant' as const, content: 'In src.' }], 'In src.'],
  ])('that explores is told the failure %s, with what its explorer had said, if anything', (code, wrote, said) => {
    const play = new TeamPlay([plan('a')]);
    const { callId } = call(play, 'a', 'delegate_explore_task', { task: 'Where is main?' });
    const { run } = play.agent('explore-2').turn!;
    const outcome = { type: 'thrown' as const, code, message: 'no more' };
    const usage = { tokens: 0, usdMicros: 0 };
    play.take({ type: 'ENDED', agentId: 'explore-2', run, outcome, text: '', usage, wrote });
    const [agent] = (answerTo(play, callId) as { agents: Record<string, unknown>[] }).agents;
    expect(agent).toMatchObject({ state: 'FAILED', error: 'no more' });
    expect(agent?.['partial_text']).toBe(said);
  });

  test('leaves no agent behind once it has explored, so that a team may explore as often as it likes', () => {
    const play = new TeamPlay([plan('a'), plan('b')]);
    const explore = () => call(play, 'a', 'delegate_explore_task', { task: 'Where is main?' });
    for (let number = 0; number < 12; number += 1) {
      const { callId } = explore();
      const id = play.team.agents.at(-1)!.plan.agentId;
      play.ends(id, 'In src/main.ts.');
      expect(answerTo(play, callId)).toMatchObject({ agents: [{ id, state: 'COMPLETED', result: 'In src/main.ts.' }] });
      play.effects.length = 0;
    }
    expect(play.states).toBe('a RUNNING, b RUNNING');
    expect(play.team.contexts.agents.map(({ agentId }) => agentId)).toEqual(['a', 'b']);
    expect(play.events.filter(({ event }) => event === 'agent_removed')).toHaveLength(12);
  });

  test('that explores keeps its explorer until all who wait for it have its answer', () => {
    const play = new TeamPlay([plan('a'), plan('b')]);
    const { callId } = call(play, 'a', 'delegate_explore_task', { task: 'Where is main?' });
    const explorer = 'explore-3';
    const other = call(play, 'b', 'wait_for_agents', { ids: [explorer, 'a'] });
    play.wait('outside', [explorer]);
    play.ends(explorer, 'In src/main.ts.');
    expect(answerTo(play, callId)).toMatchObject({ agents: [{ result: 'In src/main.ts.' }] });
    expect(play.waits.get('outside')).toMatchObject({ agents: [{ agent_id: explorer, state: 'COMPLETED' }] });
    play.ends('a');
    expect(answerTo(play, other.callId)).toMatchObject({
      agents: [{ id: explorer, result: 'In src/main.ts.' }, { id: 'a' }],
    });
    expect(play.states).toBe('a COMPLETED, b RUNNING');
  });

  test('that explores leaves no agent behind where its turn or the exploration is broken off', () => {
    const play = new TeamPlay([plan('a'), plan('b')]);
    const { callId } = call(play, 'a', 'delegate_explore_task', { task: 'x' });
    play.to('CANCEL_AGENT', 'explore-3');
    expect(answerTo(play, callId)).toMatchObject({ agents: [{ id: 'explore-3', state: 'CANCELLED' }] });
    call(play, 'a', 'delegate_explore_task', { task: 'y' });
    play.to('CANCEL_AGENT', 'a');
    expect(play.states).toBe('a CANCELLED, b RUNNING');
  });

  test('that spawns where background agents are switched off spawns one in the foreground, unless it asks for the other', () => {
    const play = new TeamPlay([plan('a')], { backgroundAllowed: false });
    const given = { initial_prompt: 'count' };
    expect(call(play, 'a', 'spawn_sub_agent', { id: 'b', ...given }).answer).toEqual({ status: 'ok', agents: ['b'] });
    expect(play.agent('b')).toMatchObject({ state: 'RUNNING', turn: { background: false } });
    expect(call(play, 'a', 'spawn_sub_agent', { id: 'c', ...given, background: true }).answer).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('PARLEY_USE_BACKGROUND_AGENTS=false'),
    });
    expect(play.states).toBe('a RUNNING, b RUNNING');
  });

  test('is refused by all ten tools where sub-agents are switched off, and nothing is created', () => {
    const play = new TeamPlay([plan('a')], { subagentsEnabled: false });
    const all: [AgentToolName, Record<string, Json>][] = [
      ['send_message', { content: 'x', target: 'a' }],
      ['spawn_sub_agent', { id: 'b' }],
      ['stop_sub_agent', { id: 'b' }],
      ['resume_sub_agent', { id: 'b' }],
      ['get_agent_status', {}],
      ['wait_for_agents', {}],
      ['get_context_info', {}],
      ['sync_context', { parent: 'a', child: 'b' }],
      ['delegate', { child: 'b', content: 'x' }],
      ['delegate_explore_task', { task: 'x' }],
    ];
    for (const [tool, given] of all)
      expect(call(play, 'a', tool, given).answer).toMatchObject({ status: 'error', code: 'subagents_disabled' });
    expect(play.states).toBe('a RUNNING');
    expect(play.team.waits).toEqual([]);
  });

  test('of a turn that has ended does nothing and is not answered', () => {
    const play = new TeamPlay([plan('a')]);
    const { run } = play.agent('a').turn!;
    play.ends('a');
    expect(call(play, 'a', 'spawn_sub_agent', { id: 'b' }, run + 1).answer).toBeUndefined();
    expect(play.states).toBe('a COMPLETED');
  });
});
