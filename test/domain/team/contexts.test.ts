import { noAmount } from '../../../src/domain/budget.js';
import type { NewMessage } from '../../../src/domain/team/context/message.js';
import { messagesOf } from '../../../src/domain/team/context/book.js';
import { contextInfo } from '../../../src/domain/team/context/info.js';
import type { ContextRead, ContextView } from '../../../src/domain/team/contexts.js';
import { callAnswer } from '../../../src/domain/team/tool-answers.js';
import { idle, plan, TeamPlay } from '../../support/team-play.js';

const contents = (play: TeamPlay, agentId: string): string[] =>
  messagesOf(play.team.contexts, agentId).map(({ content }) => content);
const ask = (content: string): NewMessage => ({ role: 'user', content });
/** One read of an agent's turn, as it was answered. */
const read = (play: TeamPlay, agentId: string, wrote: NewMessage[], has: number[] = [], run?: number) => {
  const before = play.done('answer_read').length;
  const turn = run ?? play.agent(agentId).turn?.run ?? 0;
  play.take({ type: 'READ', agentId, run: turn, step: before + 1, wrote, has, usage: noAmount });
  return play.done('answer_read')[before]?.read;
};
const viewOf = (answer: ContextRead | undefined): ContextView => {
  if (!answer || !('view' in answer)) throw new Error(`no view: ${JSON.stringify(answer)}`);
  return answer.view;
};

describe('the context of an agent that is spawned', () => {
  test('begins with its instructions, which a child with messages of its own is given too', () => {
    const play = new TeamPlay([plan('a', { instructions: 'Be brief.' })]);
    play.spawn(plan('b', { parent: 'a', instructions: 'Count.' }));
    expect(contents(play, 'a')).toEqual(['Be brief.', 'do a']);
    expect(contents(play, 'b')).toEqual(['Be brief.', 'Count.', 'a asks:\ndo b']);
  });

  test('is that of the other where the session is shared, without the instructions of who came later', () => {
    const play = new TeamPlay([plan('a', { instructions: 'Be brief.' })]);
    play.spawn(plan('b', { parent: 'a', share_session: true, instructions: 'Count.' }));
    expect(contents(play, 'b')).toEqual(['Be brief.', 'do a', 'a asks:\ndo b']);
    expect(contents(play, 'a')).toEqual(contents(play, 'b'));
  });

  test('holds what it is given to know, which those below it begin with copies of and others get by a sync', () => {
    const play = new TeamPlay([plan('a', { instructions: 'Be brief.', context: ['The sky is blue.'] }), idle('c')]);
    play.spawn(idle('b', { parent: 'a' }));
    expect(contents(play, 'a')).toEqual(['Be brief.', 'To know, not to answer:\nThe sky is blue.', 'do a']);
    expect(contents(play, 'b')).toEqual(['Be brief.', 'To know, not to answer:\nThe sky is blue.']);
    play.call({ type: 'SYNC', parent: 'a', child: 'c', categories: ['context'], replace: false });
    expect(play.answer).toMatchObject({ ok: true, synced: { copied: 1 } });
    expect(contextInfo(play.team.contexts, 'c', true)?.stats?.messages).toMatchObject({ context: 1, system: 0 });
  });

  test('has the limit of the team where it has no parent, and at most its parent’s else', () => {
    const play = new TeamPlay([plan('a')], { windowTokens: 1_000 });
    play.spawn(plan('b', { parent: 'a', shared_context_window_max_tokens: 5_000 }));
    const limit = (agentId: string) => contextInfo(play.team.contexts, agentId, true)?.stats?.limit_tokens;
    expect([limit('a'), limit('b')]).toEqual([1_000, 1_000]);
    expect(contextInfo(play.team.contexts, 'a', false)?.notices.join()).toContain('clamped from 5000 to 1000');
  });

  test('that cannot be is a refusal which changes nothing', () => {
    const play = new TeamPlay([plan('a', { instructions: 'x'.repeat(400) })], { windowTokens: 1_000 });
    const before = play.team;
    expect(play.spawn(plan('b', { parent: 'a', shared_context_window_max_tokens: 10 }))).toContain('cannot begin');
    expect(play.spawn(plan('c', { parent: 'a', instructions: 'y'.repeat(4_000) }))).toContain('has no room for this');
    expect([play.team.agents, play.team.contexts]).toEqual([before.agents, before.contexts]);
  });

  test('goes when it is cleaned up', () => {
    const play = new TeamPlay([plan('a', { instructions: 'Be brief.' })]).ends('a');
    play.to('CLEAN_UP', 'a');
    expect(play.team.contexts).toMatchObject({ agents: [], sessions: [], windows: [], messages: {} });
    expect(play.spawn(plan('a'))).toBe('ok');
  });
});

describe('a read of a turn', () => {
  test('writes what it brings, and is told only what it does not hold yet', () => {
    const play = new TeamPlay([plan('a', { instructions: 'Be brief.' })]);
    const first = viewOf(read(play, 'a', [ask('Which colour?')]));
    expect(first.add.map(({ content }) => content)).toEqual(['Be brief.', 'do a', 'Which colour?']);
    const second = viewOf(read(play, 'a', [{ role: 'assistant', content: 'Blue.' }, ask('Sure?')], first.ids));
    expect(second.add.map(({ content }) => content)).toEqual(['Blue.', 'Sure?']);
    expect(second.ids).toEqual([...first.ids, ...second.add.map(({ messageId }) => messageId)]);
  });

  test('hears what others have written into a session that is shared', () => {
    const play = new TeamPlay([plan('a'), plan('b', { share_session_with: 'a' })]);
    const held = viewOf(read(play, 'a', [ask('one')])).ids;
    read(play, 'b', [ask('two')]);
    expect(viewOf(read(play, 'a', [], held)).add.map(({ content }) => content)).toEqual(['two']);
  });

  test('is told by its ids what a full window has dropped', () => {
    const play = new TeamPlay([plan('a', { instructions: 'i'.repeat(40) })], { windowTokens: 30 });
    const first = viewOf(read(play, 'a', [ask('a'.repeat(40))]));
    const second = viewOf(read(play, 'a', [ask('b'.repeat(60))], first.ids));
    expect(second.ids).not.toContain(first.ids[2]);
    expect(contents(play, 'a')).toEqual(['i'.repeat(40), 'do a', 'b'.repeat(60)]);
  });

  test('keeps what its turn was asked in a full window as long as the turn runs, and no longer', () => {
    const play = new TeamPlay([plan('a', { prompt: 'q'.repeat(40) })], { windowTokens: 30 });
    const say = (letter: string) => viewOf(read(play, 'a', [ask(letter.repeat(40))]));
    say('b');
    say('c');
    say('d');
    expect(contents(play, 'a').map(([letter]) => letter)).toEqual(['q', 'c', 'd']);
    play.ends('a').call({ type: 'ASK', agentId: 'a', content: 'r'.repeat(40) });
    expect(contents(play, 'a').map(([letter]) => letter)).toEqual(['c', 'd', 'r']);
    say('e');
    say('f');
    expect(contents(play, 'a').map(([letter]) => letter)).toEqual(['r', 'e', 'f']);
    play.to('CANCEL_AGENT', 'a');
    play.call({ type: 'ASK', agentId: 'a', content: 's'.repeat(80) });
    expect(contents(play, 'a').map(([letter]) => letter)).toEqual(['f', 's']);
  });

  test('cuts results of tools that do not fit, the longest first, and says that it did', () => {
    const play = new TeamPlay([plan('a')], { windowTokens: 2_000 });
    const made = [
      { callId: 'c1', name: 'read', arguments: {} },
      { callId: 'c2', name: 'read', arguments: {} },
    ];
    const call: NewMessage = { role: 'assistant', content: '', calls: ['c1', 'c2'], made };
    const result = (resultOf: string, content: string): NewMessage => ({ role: 'tool', content, resultOf });
    const { add: all } = viewOf(read(play, 'a', [call, result('c1', 'short'), result('c2', 'x'.repeat(5_000_000))]));
    const add = all.filter(({ category }) => category === 'tool');
    expect(add[0]).toMatchObject({ calls: ['c1', 'c2'], made });
    expect(add[1]?.content).toBe('short');
    expect(add[2]?.content).toMatch(/^x{400,8000}\n\[cut: \d+ of 5000000 characters; ask for less at a time\]$/);
    expect(contextInfo(play.team.contexts, 'a', true)?.stats?.used_tokens).toBeLessThanOrEqual(2_000);
  });

  test('that has no room for what must not be cut is refused, with nothing written', () => {
    const play = new TeamPlay([plan('a')], { windowTokens: 10 });
    const before = play.team.contexts;
    expect(read(play, 'a', [ask('x'.repeat(400))])).toMatchObject({ refused: expect.stringContaining('has no room') });
    expect(play.team.contexts).toEqual(before);
  });

  test('of a turn that has ended writes nothing and is not answered', () => {
    const play = new TeamPlay([plan('a')]);
    const { run } = play.agent('a').turn!;
    play.ends('a');
    play.call({ type: 'ASK', agentId: 'a', content: 'again' });
    expect(read(play, 'a', [ask('late')], [], run)).toBeUndefined();
    expect(contents(play, 'a')).toEqual(['do a', 'again']);
    expect(play.team.dropped).toBe(1);
  });
});

describe('the end of a turn', () => {
  const ends = (play: TeamPlay, wrote: NewMessage[]) =>
    play.take({
      type: 'ENDED',
      agentId: 'a',
      run: play.agent('a').turn?.run ?? 0,
      outcome: { type: 'returned', value: 'Blue.' },
      text: null,
      usage: { tokens: 0, usdMicros: 0 },
      wrote,
    });

  test('leaves its answer in the context, for what the agent is asked next', () => {
    const play = new TeamPlay([plan('a')]);
    ends(play, [{ role: 'assistant', content: 'Blue.' }]);
    play.call({ type: 'ASK', agentId: 'a', content: 'Sure?' });
    const { asked } = play.done('run_turn').at(-1)!;
    expect(viewOf(asked).add.map(({ content }) => content)).toEqual(['do a', 'Blue.', 'Sure?']);
  });

  test('whose question has no room is told so, with nothing written', () => {
    const play = new TeamPlay([plan('a', { prompt: 'x'.repeat(400) })], { windowTokens: 10 });
    expect(play.done('run_turn')[0]?.asked).toMatchObject({
      code: 'context_full',
      refused: expect.stringContaining('has no room'),
    });
    expect(contents(play, 'a')).toEqual([]);
  });

  test('whose answer has no room is its end all the same, and the context says so', () => {
    const play = new TeamPlay([plan('a')], { windowTokens: 10 });
    ends(play, [{ role: 'assistant', content: 'x'.repeat(400) }]);
    expect(play.state('a')).toBe('COMPLETED');
    expect(contextInfo(play.team.contexts, 'a', false)?.notices.join()).toContain('what it said last: ');
  });

  test('of an agent that is gone leaves nothing', () => {
    const play = new TeamPlay([plan('a')]);
    const { run } = play.agent('a').turn!;
    play.to('CANCEL_AGENT', 'a');
    play.to('CLEAN_UP', 'a');
    const outcome = { type: 'stopped' as const, message: null };
    const usage = { tokens: 3, usdMicros: 0 };
    play.take({ type: 'ENDED', agentId: 'a', run, outcome, text: null, usage, wrote: [ask('late')] });
    expect(play.team).toMatchObject({ contexts: { messages: {} }, spent: { tokens: 3 }, dropped: 1 });
  });
});

describe('a sync', () => {
  test('copies what the child lacks, and says how much', () => {
    const play = new TeamPlay([plan('a'), idle('b', { parent: 'a' })]);
    read(play, 'a', [{ role: 'user', category: 'context', content: 'the facts' }]);
    const categories = ['system', 'context'] as const;
    play.call({ type: 'SYNC', parent: 'a', child: 'b', categories, replace: false });
    expect(callAnswer(play.answer!)).toEqual({ status: 'ok', agents: ['b'], copied: 1, removed: 0, dropped: 0 });
    expect(contents(play, 'b')).toEqual(['the facts']);
    expect(play.call({ type: 'SYNC', parent: 'a', child: 'nobody', categories, replace: false })).toContain(
      'agent "nobody" has no context',
    );
    expect(play.call({ type: 'SYNC', parent: 'a', child: 'a', categories, replace: false })).toContain('with itself');
  });
});
