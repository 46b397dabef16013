import { arbiter, arbiterAnswers, fails, noEarlyExit, Play } from '../../support/session-play.js';

describe('a deadline', () => {
  const policy = { deadline_ms: 100, ...noEarlyExit };

  test('with nothing said is an error that names each lane’s reason', () => {
    const play = new Play({ policy }).open().fail('a', 'lost').wait();
    expect(play.now).toBe(1_100);
    expect(play.way).toBe('NO_ANSWER>ERROR');
    expect(play.lanes).toBe('a FAILED EAGENTDOWN, b FAILED ETIMEOUT, c FAILED ETIMEOUT');
    expect(play.session.error).toMatchObject({
      code: 'ECONSENSUS',
      message: expect.stringMatching(/^no lane gave an answer: a: EAGENTDOWN lost; b: ETIMEOUT no final .* 100 ms; c:/),
    });
    expect(play.effects.at(-1)).toEqual({ type: 'direct_lanes' });
  });

  test('with only empty text is an error', () => {
    const play = new Play({ policy }).open().partial('a', ' ').wait();
    expect(play.way).toBe('PARTIAL>BUFFERING, NO_ANSWER>ERROR');
    expect(play.session.error?.lanes.map(({ reason }) => reason?.code)).toEqual(['ETIMEOUT', 'ETIMEOUT', 'ETIMEOUT']);
  });

  test('with finals reconciles them alone', () => {
    const play = new Play({ policy }).open().final('a', 'blue').partial('b', 'red').wait();
    expect(play.way).toBe('FINAL>BUFFERING, DEADLINE>DEADLINE, RECONCILE>RECONCILING, RECONCILED>COMPLETE');
    expect(play.result).toMatchObject({
      answer: 'blue',
      agreement: 0.5,
      below_threshold: true,
      partial: false,
      ended_by: 'deadline',
      for: [{ lane_id: 'a', weight: 1 }],
      cancelled: [
        { lane_id: 'b', reason: 'session_complete' },
        { lane_id: 'c', reason: 'session_complete' },
      ],
    });
  });

  test('with partial answers only uses them and says so', () => {
    const play = new Play({ policy: { ...policy, quorum_min: 3 } }).open().partials({ a: 'blue', b: 'blue' }).wait();
    expect(play.result).toMatchObject({
      answer: 'blue',
      agreement: 1,
      partial: true,
      ended_by: 'deadline',
      completed_count: 0,
    });
  });

  test('with partial answers only uses them even where count_partials is off', () => {
    const play = new Play({ policy: { ...policy, count_partials: false } }).open().partials({ a: 'blue', b: 'blue' });
    expect(play.state).toBe('BUFFERING');
    expect(play.session.agreement).toBe(0);
    expect(play.wait().result).toMatchObject({ answer: 'blue', partial: true, agreement: 1 });
  });

  test('while it still agrees finalises by quorum, without an arbiter', () => {
    const play = new Play({ policy: { ...policy, arbiter } }).open().finals({ a: 'blue', b: 'blue' }).wait();
    expect(play.way).toBe('FINAL>BUFFERING, QUORUM_REACHED>PROVISIONAL, DEADLINE>RECONCILING, RECONCILED>COMPLETE');
    expect(play.result).toMatchObject({ ended_by: 'deadline', arbiter_used: false, below_threshold: false });
  });

  test('tells the agreement of the answer it gives, not of streams that it does not', () => {
    const play = new Play({ policy }).open().partials({ b: 'red', c: 'red' }).final('a', 'blue');
    expect(play.wait().told('provisional').at(-1)).toMatchObject({ answer: 'red' });
    expect(play.told('state').at(-2)).toMatchObject({ on: 'DEADLINE', agreement: 2 / 3 });
    expect(play.result).toMatchObject({ answer: 'blue', agreement: 1 / 3, below_threshold: true });
  });

  test('is due once: what has had its say is not due again', () => {
    const agreement = { method: 'judge' as const, adapter: { kind: 'scripted' as const, script: [{ final: 'x' }] } };
    const play = new Play({ policy: { ...policy, agreement } }).open().partials({ a: 'blue', b: 'red' }).wait();
    expect(play.state).toBe('DEADLINE');
    expect(() => play.wait()).toThrow('nothing is due in DEADLINE');
  });

  test('that comes in the same instant as the last final is not what ended it', () => {
    const play = new Play({ policy }).open().at(100).finals({ a: 'blue', b: 'blue', c: 'blue' });
    expect(play.result).toMatchObject({ ended_by: 'all_final' });
  });
});

describe('a cancel', () => {
  const merge = { reconciliation: 'weighted_merge' as const, merge: { adapter: arbiter.adapter } };
  const judge = { agreement: { method: 'judge' as const, adapter: arbiter.adapter } };
  test.each<[string, () => Play]>([
    ['INIT', () => new Play()],
    ['DISPATCHED', () => new Play().take({ type: 'FAN_OUT' })],
    ['STREAMING', () => new Play().open()],
    ['BUFFERING', () => new Play().open().final('a', 'blue')],
    ['PROVISIONAL', () => new Play({ policy: noEarlyExit }).open().finals({ a: 'blue', b: 'blue' })],
    ['DEADLINE', () => new Play({ policy: { deadline_ms: 9, ...judge } }).open().partials({ a: 'x', b: 'y' }).wait()],
    ['ARBITER', () => new Play({ policy: { arbiter } }).open().finals({ a: 'red', b: 'blue', c: 'green' })],
    ['RECONCILING', () => new Play({ policy: merge }).open().finals({ a: 'blue', b: 'blue', c: 'blue' })],
  ])('in %s cancels every lane that runs and emits no final', (state, make) => {
    const play = make();
    expect(play.state).toBe(state);
    const running = play.session.lanes.filter((lane) => /ADMITTED|STREAMING/.test(lane.state));
    play.cancel();
    expect(play.path.at(-1)).toBe('CANCEL>CANCELLED');
    expect(running.map((lane) => play.lane(lane.setup.laneId).reason?.code)).toEqual(
      running.map(() => 'session_cancelled'),
    );
    expect(play.told('final')).toEqual([]);
    expect(play.session).toMatchObject({ result: null, error: null, waiting: null, endedAt: play.now });
  });
});

describe('after its end a session', () => {
  const ended: [string, () => Play][] = [
    ['COMPLETE', () => new Play().open().finals({ a: 'blue', b: 'blue', c: 'blue' })],
    ['ERROR', () => new Play().open().reports(['a', fails()], ['b', fails()], ['c', fails()])],
    ['CANCELLED', () => new Play().open().cancel()],
  ];
  test.each(ended)('in %s counts what comes and changes nothing', (state, make) => {
    const play = make();
    const before = play.session;
    const told = play.events.length;
    play.at(60_000).final('a', 'red').partial('b', 'x').fail('c').cancel().take({ type: 'FAN_OUT' });
    play
      .take(arbiterAnswers('x'))
      .take({ type: 'MERGED', record: arbiterAnswers('x').record })
      .scored([['a']], 'a:final')
      .tick();
    play.take({ type: 'GROUP_ENDED', group: 'lanes-1', message: 'over' });
    const { steppedAt: _, dropped, ledger: _ledger, lanes, ...rest } = play.session;
    const { steppedAt: __, dropped: ___, ledger: ____, lanes: were, ...was } = before;
    expect(rest).toEqual(was);
    expect(dropped).toBe(8);
    // Money that was spent is told, whenever it is heard of.
    expect(play.overhead.tokens).toBe(4 + 4 + 3);
    expect(lanes.map(({ state: is, answer: said, reason }) => [is, said, reason])).toEqual(
      were.map(({ state: is, answer: said, reason }) => [is, said, reason]),
    );
    expect(play.events).toHaveLength(told);
    expect(play.state).toBe(state);
  });

  test.each(ended)('in %s hears what its lanes turned out to have used', (_, make) => {
    const play = make();
    const before = play.session.dropped;
    play.report('b', { type: 'SETTLE', usage: { tokens: 77, usdMicros: 7 } });
    expect(play.lane('b').usage).toEqual({ tokens: 77, usdMicros: 7 });
    expect(play.session.dropped).toBe(before);
  });
});

describe('a group that ends', () => {
  test('fails the lanes it left open, and no others', () => {
    const play = new Play({ lanes: ['a', 'b', { lane_id: 'x', adapter: { kind: 'external' } }] }).open();
    play.final('a', 'blue').take({ type: 'GROUP_ENDED', group: 'lanes-1', message: 'the worker is gone' });
    expect(play.lanes).toBe('a FINALIZED, b FAILED EAGENTDOWN, x STREAMING');
    expect(play.lane('b').reason?.message).toBe('the worker is gone');
  });
});
