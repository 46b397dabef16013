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
    expect(play.done('call')[0]?.action).toMatchObject({
      callId: 'call-1-1-tag-1',
      command: { tool: 'delegate', given: { child: 'b', content: 'count' } },
    });
    play.called('call-1-1-tag-1', 'three');
    expect(play.said.slice(1)).toEqual(['assistant: I ask.', 'tool: three']);
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
    expect(play.turn).toMatchObject({ phase: 'ASKING', round: 2 });
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
    const [said, ...results] = play.turn.messages.slice(1);
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

describe('mail', () => {
  const mail = { type: 'MAIL', from: 'b', channel: 'news', content: 'It rains.' } as const;

  test('is read before the next call of the model', () => {
    const play = new TurnPlay()
      .take(mail)
      .says('', [call('x')])
      .called('call-1-1-1', 'one');
    expect(play.said.slice(1)).toEqual(['assistant: ', 'tool: one', 'user: Message from b (news):\nIt rains.']);
  });

  test('that comes while the context is read is read at once', () => {
    const play = new TurnPlay();
    play.answersReads = false;
    play.says('', [call('x')]).called('call-1-1-1', 'one');
    const [first] = play.done('read');
    play.take(mail).read(first!);
    expect(play.done('ask_model')).toHaveLength(1);
    play.read(play.done('read')[1]!);
    expect(play.said.at(-1)).toContain('It rains.');
    expect(play.done('ask_model')).toHaveLength(2);
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
