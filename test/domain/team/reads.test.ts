import type { AgentCommand } from '../../../src/contracts/agent-tools.js';
import { checkAgentCommand } from '../../../src/agent-commands.js';
import type { TurnRead } from '../../../src/domain/agent/state.js';
import { messagesOf } from '../../../src/domain/team/context/book.js';
import type { NewMessage } from '../../../src/domain/team/context/message.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const commandOf = (tool: AgentCommand['tool'], given: Record<string, unknown> = {}): AgentCommand => {
  const checked = checkAgentCommand(tool, given);
  if ('faults' in checked) throw new Error(checked.faults.join());
  return checked.command;
};
const contents = (play: TeamPlay): string[] => messagesOf(play.team.contexts, 'a').map(({ content }) => content);
const said = (...calls: string[]): NewMessage => ({ role: 'assistant', content: 'So.', calls });
const usage = { tokens: 5, usdMicros: 7 };
const reads = (play: TeamPlay, step: number, over: Partial<TurnRead> = {}) => {
  const before = play.effects.length;
  const run = play.agent('a').turn?.run ?? 0;
  play.take({ type: 'READ', agentId: 'a', run, step, wrote: [], has: [], usage, ...over });
  return play.effects.slice(before);
};
const info = { callId: 'c1', command: commandOf('get_context_info') };
const waits = { callId: 'c2', command: commandOf('wait_for_agents', { ids: ['b'] }) };
const spawns = { callId: 'c3', command: commandOf('spawn_sub_agent', { id: 'child' }) };

describe('a read with calls of tools for agents', () => {
  test('has them carried out, writes their results behind what was said, and is answered once', () => {
    const play = new TeamPlay([plan('a')]);
    const effects = reads(play, 1, { wrote: [said('c3', 'c1')], commands: [spawns, info] });
    expect(effects.map(({ type }) => type)).toEqual(['answer_read']);
    expect(contents(play)).toEqual([
      'do a',
      'So.',
      '{"agents":["child"],"status":"ok"}',
      expect.stringContaining('"agent_id":"a"'),
    ]);
    expect(play.team.spent).toEqual(usage);
  });

  test('writes nothing where one of them waits: each is answered by itself', () => {
    const play = new TeamPlay([plan('a'), plan('b')]);
    const effects = reads(play, 1, { wrote: [said('c1', 'c2')], commands: [info, waits] });
    expect(effects).toMatchObject([
      { type: 'defer_read', step: 1 },
      { type: 'answer_call', callId: 'c1' },
    ]);
    expect([contents(play), play.team.spent.tokens]).toEqual([['do a'], 0]);
    play.ends('b', 'blue');
    expect(play.done('answer_call').map(({ callId }) => callId)).toEqual(['c1', 'c2']);
    expect(reads(play, 2, { wrote: [said()] })).toMatchObject([{ type: 'answer_read', step: 2 }]);
  });
});

describe('a read that comes twice', () => {
  test('is written, paid for and carried out once, and answered again', () => {
    const play = new TeamPlay([plan('a')]);
    const given = { wrote: [said('c3')], commands: [spawns] };
    const [first] = reads(play, 1, given);
    const before = play.team;
    expect(reads(play, 1, given)).toEqual([first]);
    expect({ ...play.team, steppedAt: 0 }).toEqual({ ...before, steppedAt: 0 });
  });

  test('is answered again with the cheaper model that was admitted for it', () => {
    const call = { estimate: { tokens: 1, usdMicros: 0 }, per1000Characters: { tokens: 0, usdMicros: 0 } };
    const price = { likely: call, most: call, isCapped: true };
    const play = new TeamPlay([{ ...plan('a'), price, cheaper: { model: 'small', price } }], {
      budget: { maxTokens: 6, maxUsdMicros: null, cheaperPercent: 50 },
    });
    const [first] = reads(play, 1);
    expect(first).toMatchObject({ type: 'answer_read', model: 'small' });
    expect(reads(play, 1)).toEqual([first]);
  });

  test('is put off again where its calls wait, without beginning another wait', () => {
    const play = new TeamPlay([plan('a'), plan('b')]);
    const given = { wrote: [said('c2')], commands: [waits] };
    reads(play, 1, given);
    expect(reads(play, 1, given)).toMatchObject([{ type: 'defer_read' }]);
    expect(play.team.waits).toHaveLength(1);
  });

  test('is not answered twice while the agent is paused, nor where a later one came', () => {
    const play = new TeamPlay([plan('a')]);
    play.to('PAUSE_AGENT', 'a');
    expect([...reads(play, 1), ...reads(play, 1)]).toEqual([]);
    play.to('RESUME_AGENT', 'a');
    expect(play.done('answer_read')).toHaveLength(1);
    reads(play, 2);
    expect(reads(play, 1)).toEqual([]);
    expect(play.done('answer_read')).toHaveLength(2);
  });
});

describe('a read that may not have arrived', () => {
  const ends = (play: TeamPlay, step: number) =>
    play.take({
      type: 'ENDED',
      agentId: 'a',
      run: play.agent('a').turn?.run ?? 0,
      outcome: { type: 'stopped', message: null },
      text: null,
      usage: { tokens: 1, usdMicros: 0 },
      sent: { step, wrote: [said()], usage },
    });

  test('counts with the end of its turn where it has not', () => {
    const play = ends(new TeamPlay([plan('a')]), 1);
    expect([contents(play), play.team.spent.tokens]).toEqual([['do a', 'So.'], 6]);
  });

  test('counts once where it has', () => {
    const play = new TeamPlay([plan('a')]);
    reads(play, 1, { wrote: [said()] });
    ends(play, 1);
    expect([contents(play), play.team.spent.tokens]).toEqual([['do a', 'So.'], 6]);
  });

  test('of a turn that has ended stops it, and is left to its end', () => {
    const play = new TeamPlay([plan('a'), idle('b')]);
    play.to('CANCEL_AGENT', 'a');
    play.call({ type: 'ASK', agentId: 'a', content: 'again' });
    const before = play.effects.length;
    play.take({ type: 'READ', agentId: 'a', run: 1, step: 1, wrote: [said()], has: [], usage });
    expect(play.effects.slice(before)).toEqual([{ type: 'stop_turn', agentId: 'a', run: 1 }]);
    expect(play.team.spent.tokens).toBe(0);
  });
});
