import { leftAt, timeLeftNow } from '../../../src/domain/agent/state.js';
import { stepTurn } from '../../../src/domain/agent/turn.js';
import { noAmount } from '../../../src/domain/budget.js';
import { TurnPlay } from '../../support/turn-play.js';

const call = (callId: string, name = 'read_file', given = {}) => ({ callId, name, arguments: given });

describe('a turn of an agent', () => {
  test('is asked, answers, and has ended', () => {
    const play = new TurnPlay().says('Blue.');
    expect(play.done('ask_model')).toEqual([{ type: 'ask_model', round: 1 }]);
    expect(play.turn).toMatchObject({
      phase: 'OVER',
      outcome: { type: 'returned', value: 'Blue.' },
      wrote: [{ role: 'assistant', content: 'Blue.' }],
      spent: { tokens: 10 },
    });
  });

  test('with an empty answer is no crash', () => {
    expect(new TurnPlay().says('').turn.outcome).toEqual({ type: 'returned', value: '' });
  });

  test('calls tools, and is asked again with their results in the order of the calls', () => {
    const play = new TurnPlay().says('Let me look.', [call('x'), call('y')]);
    expect(play.done('call').map(({ action }) => action)).toEqual([
      { callId: 'call-1-1-1', name: 'read_file', given: {} },
      { callId: 'call-1-1-2', name: 'read_file', given: {} },
    ]);
    play.called('call-1-1-2', 'second');
    expect(play.done('ask_model')).toHaveLength(1);
    play.called('call-1-1-1', { status: 'ok' });
    expect(play.said.slice(1)).toEqual(['assistant: Let me look.', 'tool: {"status":"ok"}', 'tool: second']);
    expect(play.done('ask_model')).toHaveLength(2);
    expect(play.says('Found.').turn.outcome).toEqual({ type: 'returned', value: 'Found.' });
  });

  test('gives calls ids of their own where a model uses the same in every answer', () => {
    const play = new TurnPlay().says('', [call('call_0')]).called('call-1-1-1', 'one');
    play.says('', [call('call_0')]).called('call-1-2-1', 'two');
    expect(play.said.slice(1)).toEqual(['assistant: ', 'tool: one', 'assistant: ', 'tool: two']);
  });

  test('takes action tags as it takes calls', () => {
    const play = new TurnPlay().says('I ask.\n<delegate child="b">count</delegate>');
    expect(play.done('ask_model')[1]?.read?.commands).toMatchObject([
      { callId: 'call-1-1-tag-1', command: { tool: 'delegate', given: { child: 'b', content: 'count' } } },
    ]);
    expect(play.said.slice(1)).toEqual(['assistant: I ask.', 'tool: delegate done']);
  });

  test('tells the model what of its answer was not carried out, and does the rest', () => {
    const play = new TurnPlay().says('<delegate>x</delegate>', [call('x', 'fly'), call('y')]);
    expect(play.done('call')).toHaveLength(1);
    play.called('call-1-1-2', 'text');
    expect(play.said.slice(1)).toEqual([
      'assistant: <delegate>x</delegate>',
      'tool: text',
      expect.stringContaining('tool: {"code":"unknown_tool"'),
      expect.stringMatching(/^user: delegate was not carried out: child /),
    ]);
  });

  test('goes on where all of an answer was wrong', () => {
    const play = new TurnPlay().says('', [call('x', 'fly')]);
    expect(play.done('ask_model')).toHaveLength(2);
    expect(play.says('Found.').turn).toMatchObject({ phase: 'OVER', round: 2 });
  });

  test('carries out a call once that stands there twice', () => {
    const play = new TurnPlay().says('', [call('x'), call('x')]);
    expect(play.done('call')).toHaveLength(1);
    play.called('call-1-1-1', 'text');
    expect(play.said.slice(1)).toEqual(['assistant: ', 'tool: text', expect.stringContaining('stands there twice')]);
  });

  test('that asks for a thousand calls has a hundred carried out, and every call answered', () => {
    const calls = Array.from({ length: 1_000 }, (_, index) => call(`c${index}`));
    const play = new TurnPlay().says('', calls);
    expect(play.done('call')).toHaveLength(100);
    for (const { action } of play.done('call')) play.called(action.callId, 'ok');
    const [said, ...results] = play.says('Found.').turn.messages.slice(1);
    expect(said?.made).toHaveLength(1_000);
    expect(new Set(results.map(({ resultOf }) => resultOf)).size).toBe(1_000);
    expect(results.filter(({ content }) => content.includes('too_many'))).toHaveLength(900);
  });

  test('has failed where its model has, with what was said and spent', () => {
    const usage = { tokens: 5, usdMicros: 7 };
    const play = new TurnPlay().take({
      type: 'FAILED',
      round: 1,
      code: 'ETIMEOUT',
      message: 'late',
      text: 'Bl',
      usage,
    });
    expect(play.turn).toMatchObject({
      outcome: { type: 'thrown', code: 'ETIMEOUT', message: 'late' },
      text: 'Bl',
      spent: usage,
    });
  });

  test('reads again when a call has taken the time that its budget had left, whatever its rounds: its team knows what follows', () => {
    const usage = { tokens: 5, usdMicros: 7 };
    const late = { type: 'FAILED' as const, code: 'EBUDGET', message: 'over', usage, isOutOfTime: true as const };
    const play = new TurnPlay({ maxRounds: 1 }).take({ ...late, round: 1, text: 'Bl' });
    expect(play.done('ask_model').at(-1)).toMatchObject({ round: 2, read: { step: 1, wrote: [], usage } });
    expect(play.turn).toMatchObject({ phase: 'READING', outcome: null, text: 'Bl' });
    const refused = { type: 'NO_ROOM' as const, step: 1, code: 'EBUDGET', message: 'no time' };
    expect(stepTurn(play.turn, refused).turn).toMatchObject({ outcome: { code: 'EBUDGET' }, text: 'Bl' });
    expect(play.says('Blue.').turn).toMatchObject({ outcome: { type: 'returned', value: 'Blue.' }, round: 2 });
  });

  test('does not count a call for which no time was left, so that its model was not asked', () => {
    const late = { type: 'FAILED' as const, code: 'EBUDGET', message: 'over', text: null, usage: noAmount };
    const play = new TurnPlay({ maxRounds: 1 }).take({ ...late, round: 1, isOutOfTime: true, isUnasked: true });
    expect(play.done('ask_model').at(-1)).toMatchObject({ round: 1, read: { step: 1 } });
    expect(play.says('Blue.').turn).toMatchObject({ outcome: { type: 'returned', value: 'Blue.' }, round: 1 });
  });

  test('has what its team names for a call, and of the first what its start has left of that', () => {
    const late = { type: 'FAILED' as const, code: 'EBUDGET', message: 'over', text: null, usage: noAmount };
    const play = new TurnPlay();
    const hour = 3_600_000;
    expect([timeLeftNow(play.turn, hour), timeLeftNow({ ...play.turn, timeLeftMs: 900 }, 300)]).toEqual([
      undefined,
      600,
    ]);
    expect(timeLeftNow({ ...play.turn, timeLeftMs: 900 }, hour)).toBe(0);
    expect([leftAt({ leftMs: 900, at: 50 }, 350), leftAt({ leftMs: 900, at: 50 }, hour)]).toEqual([600, 0]);
    play.take({ ...late, round: 1, isOutOfTime: true, isUnasked: true });
    play.asked = null;
    // A person has given more, an hour later.
    play.take({ type: 'VIEW', step: 1, view: { ids: [], add: [] }, timeLeftMs: 900 });
    expect([play.turn.phase, play.turn.round, timeLeftNow(play.turn, hour)]).toEqual(['ASKING', 1, 900]);
    // A call that is made again, once a person has answered for its tenant, has had some of it.
    expect([timeLeftNow(play.turn, hour, 250), timeLeftNow(play.turn, hour, 1_000)]).toEqual([650, 0]);
  });

  test('asks with the time that its team names, and with none where it names none later', () => {
    const play = new TurnPlay().says('', [call('x')]).called('call-1-1-1', 'one');
    play.asked = null;
    const view = { ids: [], add: [] };
    play.take({ type: 'VIEW', step: 1, view, timeLeftMs: 900 });
    expect(play.turn).toMatchObject({ phase: 'ASKING', timeLeftMs: 900 });
    play.take({ type: 'FAILED', round: 2, code: 'x', message: 'x', text: null, usage: noAmount, isOutOfTime: true });
    play.take({ type: 'VIEW', step: 2, view });
    expect(play.turn).not.toHaveProperty('timeLeftMs');
  });

  test('has failed at the limit of its rounds, and leaves no call without a result', () => {
    const play = new TurnPlay({ maxRounds: 2 })
      .says('', [call('x')])
      .called('call-1-1-1', 'one')
      .says('', [call('x')]);
    expect(play.turn).toMatchObject({
      outcome: { type: 'thrown', code: 'round_limit', message: expect.stringContaining('max_rounds') },
      wrote: [
        { calls: ['call-1-2-1'] },
        { resultOf: 'call-1-2-1', content: expect.stringContaining('not_carried_out') },
      ],
    });
    expect(play.done('call')).toHaveLength(1);
  });
});

describe('a turn that is held', () => {
  test('asks and calls nothing, and does it when it goes on', () => {
    const play = new TurnPlay().take({ type: 'HOLD' }).says('', [call('x'), call('y')]);
    expect(play.done('call')).toEqual([]);
    play.take({ type: 'GO_ON' });
    expect(play.done('call')).toHaveLength(2);
    play.take({ type: 'HOLD' }).called('call-1-1-1', 'one').called('call-1-1-2', 'two');
    expect(play.done('ask_model')).toHaveLength(1);
    play.take({ type: 'GO_ON' });
    expect(play.done('ask_model')).toHaveLength(2);
  });

  test('comes to its end with what was under way', () => {
    expect(new TurnPlay().take({ type: 'HOLD' }).says('Blue.').turn.phase).toBe('OVER');
  });
});

describe('a turn that is stopped', () => {
  test('keeps what was said, stops what is under way, and takes nothing more', () => {
    const play = new TurnPlay().take({ type: 'STOP', message: 'by a person', text: 'Bl' });
    expect(play.effects.at(-1)).toEqual({ type: 'stop' });
    expect(play.turn).toMatchObject({ outcome: { type: 'stopped', message: 'by a person' }, text: 'Bl' });
    expect(play.says('Blue.').turn.outcome).toMatchObject({ type: 'stopped' });
  });

  test('leaves calls answered with what had come', () => {
    const play = new TurnPlay().says('', [call('x'), call('y')]).called('call-1-1-1', 'one');
    play.take({ type: 'STOP', message: null, text: null });
    expect(play.turn.wrote).toMatchObject([
      { calls: ['call-1-1-1', 'call-1-1-2'] },
      { resultOf: 'call-1-1-1', content: 'one' },
      { resultOf: 'call-1-1-2', content: expect.stringContaining('not_carried_out') },
    ]);
  });
});

describe('what a turn tells its team', () => {
  const usage = { tokens: 10, usdMicros: 0 };
  const info = call('x', 'get_context_info');

  test('goes with the call of its model, and is known to be heard by what that was asked with', () => {
    const play = new TurnPlay().says('', [call('x')]).called('call-1-1-1', 'one');
    expect(play.turn).toMatchObject({ phase: 'READING', round: 1, sent: { step: 1, usage } });
    expect(play.says('Found.').turn).toMatchObject({ phase: 'OVER', round: 2, sent: null, told: usage });
  });

  test('is left with its end where it may not have been heard, with a result for each call', () => {
    const play = new TurnPlay().says('', [info]).take({ type: 'STOP', message: null, text: null });
    expect(play.turn.sent).toMatchObject({
      step: 1,
      usage,
      wrote: [
        { calls: ['call-1-1-1'] },
        { resultOf: 'call-1-1-1', content: expect.stringContaining('not_carried_out') },
      ],
    });
    expect(play.take({ type: 'LATER', step: 1 }).turn.sent).toBeNull();
  });

  test('is left, too, where no worker brought the call to its end', () => {
    const play = new TurnPlay().says('', [call('x')]).called('call-1-1-1', 'one');
    play.take({ type: 'FAILED', round: 2, code: 'EAGENTDOWN', message: 'no worker', text: null, usage });
    expect(play.turn).toMatchObject({ outcome: { type: 'thrown' }, round: 1, sent: { step: 1, usage } });
  });

  test('waits for a view that comes later, with which its model is asked the same round', () => {
    const play = new TurnPlay().says('', [call('x')]).called('call-1-1-1', 'one');
    const view = play.asked!;
    play.take({ type: 'LATER', step: 1 }).take({ type: 'HOLD' }).take(view);
    expect(play.done('ask_model')).toHaveLength(2);
    play.take({ type: 'GO_ON' });
    expect(play.done('ask_model')[2]).toEqual({ type: 'ask_model', round: 2 });
    play.asked = null;
    expect(play.says('Found.').turn.outcome).toEqual({ type: 'returned', value: 'Found.' });
  });

  test('is told again with the results where a call of it waits, which come one by one, and may come first', () => {
    const play = new TurnPlay().says('So.', [info, call('y', 'wait_for_agents')]);
    play.called('call-1-1-1', 'one').take({ type: 'WAITS', step: 1 });
    expect(play.done('ask_model')).toHaveLength(2);
    expect(play.turn).toMatchObject({ phase: 'CALLING', sent: null, told: { tokens: 0, usdMicros: 0 } });
    play.called('call-1-1-2', 'two');
    expect(play.done('ask_model')[2]?.read).toMatchObject({
      step: 2,
      usage,
      wrote: [{ content: 'So.' }, { content: 'one' }, { content: 'two' }],
    });
  });

  test('goes without a call of its model while it is held', () => {
    const play = new TurnPlay().take({ type: 'HOLD' }).says('', [call('x', 'fly')]);
    expect([play.done('read').length, play.done('ask_model').length]).toEqual([1, 1]);
    play.take({ type: 'GO_ON' });
    expect(play.done('ask_model')[1]).toEqual({ type: 'ask_model', round: 2 });
  });

  test('ends it where what it wrote has no room', () => {
    const play = new TurnPlay({}, 20).says('x'.repeat(400), [info]);
    expect(play.turn).toMatchObject({ round: 1, outcome: { type: 'thrown', code: 'context_full' }, sent: null });
  });

  test('holds only calls that the team answers: others are made, and those that people are asked about wait', () => {
    const approvals = [{ tool: 'get_*', when: 'always' as const }];
    expect(new TurnPlay({ approvals }).says('', [info]).done('ask_person')).toHaveLength(1);
    const play = new TurnPlay().says('', [info, call('y')]);
    expect(play.done('call').map(({ action }) => action.name)).toEqual(['get_context_info', 'read_file']);
  });
});

describe('mail', () => {
  const mail = { type: 'MAIL', from: 'b', channel: 'news', content: 'It rains.' } as const;

  test('is read before the next call of the model', () => {
    const play = new TurnPlay()
      .take(mail)
      .says('', [call('x')])
      .called('call-1-1-1', 'one');
    expect(play.said.slice(1)).toEqual(['assistant: ', 'tool: one', 'user: Message from b (news):\nIt rains.']);
  });

  test('that comes while its call waits for a view is read at once', () => {
    const play = new TurnPlay().says('', [call('x')]).called('call-1-1-1', 'one');
    play.take({ type: 'LATER', step: 1 }).take(mail).take(play.asked!);
    expect(play.said.at(-1)).toContain('It rains.');
    expect(play.done('ask_model').map(({ round, read }) => [round, read?.step])).toEqual([
      [1, undefined],
      [2, 1],
      [2, 2],
    ]);
  });

  test('that comes too late for the answer stands in the context', () => {
    expect(new TurnPlay().take(mail).says('Blue.').turn.wrote).toMatchObject([
      { content: 'Blue.' },
      { content: expect.stringContaining('It rains.') },
    ]);
  });
});

test('what comes out of its order, or twice, changes nothing', () => {
  const play = new TurnPlay();
  const before = play.turn;
  play.called('nobody', 'x').take({ type: 'VIEW', step: 1, view: { ids: [], add: [] } });
  play.take({ type: 'NO_ROOM', step: 1, code: 'context_full', message: 'x' });
  play.take({ type: 'FAILED', round: 9, code: 'x', message: 'x', text: null, usage: { tokens: 1, usdMicros: 0 } });
  expect(play.turn).toEqual(before);
});

describe('a call that rules put before a person', () => {
  const approvals = [{ tool: 'write_*', when: 'always' as const }];

  test('waits for the answer, while the others are made', () => {
    const play = new TurnPlay({ approvals }).says(
      '',
      [call('x', 'write_file', { path: 'a' }), call('y')],
      ['read_file', 'write_file'],
    );
    expect(play.done('ask_person')).toEqual([
      { type: 'ask_person', callId: 'call-1-1-1', name: 'write_file', given: { path: 'a' } },
    ]);
    expect(play.done('call').map(({ action }) => action.name)).toEqual(['read_file']);
    play.take({ type: 'ALLOWED', callId: 'call-1-1-1' }).take({ type: 'ALLOWED', callId: 'nobody' });
    expect(play.done('call').map(({ action }) => action.name)).toEqual(['read_file', 'write_file']);
  });

  test('is not made while the turn is held, though it was allowed', () => {
    const play = new TurnPlay({ approvals }).says('', [call('x', 'write_file')], ['write_file']);
    play.take({ type: 'HOLD' }).take({ type: 'ALLOWED', callId: 'call-1-1-1' });
    expect(play.done('call')).toEqual([]);
    expect(play.take({ type: 'GO_ON' }).done('call')).toHaveLength(1);
  });
});
