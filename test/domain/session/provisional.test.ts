import { fails, finals, noEarlyExit, Play, type PlayBody } from '../../support/session-play.js';

describe('a provisional', () => {
  test('carries answer, agreement, the lanes behind it and its expiry', () => {
    const play = new Play({ policy: noEarlyExit }).open().at(7).partials({ a: 'blue', b: 'Blue!' });
    expect(play.told('provisional')).toEqual([
      {
        number: 1,
        answer: 'blue',
        agreement: 1,
        lanes: ['a', 'b'],
        at: '1970-01-01T00:00:01.007Z',
        expiry_ms: 15_000,
        expired: false,
        revised: false,
      },
    ]);
  });

  test('is revised when agreement falls below the threshold, and a second one follows when it rises again', () => {
    const play = new Play({ lanes: ['a', 'b', 'c', 'd', 'e'], policy: noEarlyExit }).open();
    play.finals({ a: 'blue', b: 'blue' }).final('c', 'red');
    expect(play.state).toBe('PROVISIONAL');
    play.final('d', 'red');
    expect(play.state).toBe('BUFFERING');
    expect(play.told('revision')).toEqual([
      { at: expect.any(String), replaces: 1, because: 'agreement_fell', agreement: 0.5, answer: 'blue' },
    ]);
    expect(play.session.provisional).toMatchObject({ number: 1, revised: true });
    play.partial('e', 'blue');
    expect(play.told('provisional').map(({ number, agreement }) => [number, agreement])).toEqual([
      [1, 1],
      [2, 0.6],
    ]);
    expect(play.session.provisional).toMatchObject({ number: 2, revised: false });
  });

  test('is revised when the leading answer changes, and replaced in the same step', () => {
    const play = new Play({ lanes: ['a', 'b', { lane_id: 'c', weight: 9 }, 'd'], policy: noEarlyExit }).open();
    play.partials({ a: 'blue', b: 'blue' }).final('c', 'red');
    expect(play.way).toBe(
      'PARTIAL>BUFFERING, QUORUM_REACHED>PROVISIONAL, REVISION>BUFFERING, QUORUM_REACHED>PROVISIONAL',
    );
    expect(play.told('revision')).toMatchObject([{ replaces: 1, because: 'leader_changed', answer: 'red' }]);
  });

  test('stays while its lanes say the same in other words', () => {
    const play = new Play({ lanes: ['a', 'b', 'c'], policy: noEarlyExit }).open().partials({ a: 'blue', b: 'blue' });
    play.final('a', 'Blue.').final('b', ' BLUE');
    expect(play.told('revision')).toEqual([]);
  });

  test('is revised when the lanes behind it are gone', () => {
    const play = new Play({ policy: { ...noEarlyExit, threshold: 0 } }).open().partials({ a: 'blue', b: 'blue' });
    play.fail('a').fail('b');
    expect(play.state).toBe('BUFFERING');
    expect(play.told('revision')).toMatchObject([{ because: 'agreement_fell', answer: null, agreement: 0 }]);
  });

  test('of an answer that makes no choice is no reason to revise itself for ever', () => {
    const agreement = { method: 'choice' as const, choice: { regex: 'answer: (\\w+)' } };
    const play = new Play({ policy: { agreement, quorum_min: 1, ...noEarlyExit } }).open().final('a', 'thinking');
    expect(play.way).toBe('FINAL>BUFFERING, QUORUM_REACHED>PROVISIONAL');
  });

  test('is marked expired by time, at its very millisecond, once, and the session goes on', () => {
    const play = new Play({ policy: { ...noEarlyExit, provisional: { expiry_ms: 50 } } }).open();
    play.at(10).partials({ a: 'blue', b: 'blue' }).at(59).tick();
    expect(play.session.provisional?.expired).toBe(false);
    play.wait();
    expect(play.now).toBe(1_060);
    expect(play.session.provisional).toMatchObject({ number: 1, expired: true, revised: false });
    expect(play.state).toBe('PROVISIONAL');
    expect(play.at(99).tick().logs).toEqual(['provisional 1 has expired; the session goes on']);
  });

  test.each<[string, (play: Play) => Play, Play['state']]>([
    ['cancelled', (play) => play.cancel(), 'CANCELLED'],
    ['failed', (play) => play.fail('a').reports(['b', fails()], ['c', fails()]), 'ERROR'],
  ])('is not marked expired once its session is %s', (_, end, state) => {
    const play = end(
      new Play({ policy: { provisional: { expiry_ms: 50 } } }).open().partials({ a: 'blue', b: 'blue' }),
    );
    expect(play.at(60).tick().state).toBe(state);
    expect(play.session.provisional).toMatchObject({ number: 1, expired: false });
    expect(play.logs).toEqual([]);
  });

  test('is marked expired by whatever comes first after its time', () => {
    const play = new Play({ policy: { ...noEarlyExit, provisional: { expiry_ms: 50 } } }).open();
    play.partials({ a: 'blue', b: 'blue' }).at(50).partial('c', 'blue');
    expect(play.session.provisional).toMatchObject({ number: 1, expired: true });
  });

  test('is none where it is switched off, and tentative votes then finalise nothing', () => {
    const play = new Play({ policy: { provisional: { enabled: false } } }).open().partials({ a: 'blue', b: 'blue' });
    expect(play.state).toBe('BUFFERING');
    play.final('a', 'blue');
    expect(play.way).toBe('PARTIAL>BUFFERING, QUORUM_REACHED>RECONCILING, RECONCILED>COMPLETE');
    expect(play.result).toMatchObject({ ended_by: 'quorum', agreement: 1, partial: false, completed_count: 1 });
  });
});

describe('an early exit', () => {
  const tiers = ['gold', 'silver', 'bronze', 'bronze'].map((tier, n) => ({ lane_id: 'gsbc'[n]!, tier }));

  test('cancels bronze lanes as early_exit, and the others only because the session is over', () => {
    const play = new Play({ lanes: [...tiers, 'x'] }).open().final('x', 'blue').final('b', 'blue');
    expect(play.way).toBe('FINAL>BUFFERING, QUORUM_REACHED>PROVISIONAL, EARLY_EXIT>RECONCILING, RECONCILED>COMPLETE');
    expect(play.lanes).toBe(
      'g CANCELLED session_complete, s CANCELLED session_complete, b FINALIZED, c CANCELLED early_exit, x FINALIZED',
    );
    expect(play.result).toMatchObject({
      ended_by: 'early_exit',
      cancelled: [
        { lane_id: 'g', reason: 'session_complete' },
        { lane_id: 's', reason: 'session_complete' },
        { lane_id: 'c', reason: 'early_exit' },
      ],
      saved: { tokens: 30, usd: '0' },
    });
    expect(play.effects.at(-1)).toEqual({ type: 'direct_lanes' });
  });

  test.each([
    [17, 3, 'COMPLETE'],
    [16, 4, 'PROVISIONAL'],
  ])('at 0.85 is inclusive: %i against %i is %s', (blue, red, state) => {
    // An undecided weight keeps the session from being decided.
    const lanes = [
      { lane_id: 'a', weight: blue - 1 },
      'a2',
      { lane_id: 'b', weight: red },
      { lane_id: 'c', weight: 99 },
    ];
    const play = new Play({ lanes }).open().finals({ a: 'blue', a2: 'blue', b: 'red' });
    expect(play.state).toBe(state);
  });

  test('needs a lane that has finalised: two streams that begin alike are no answer yet', () => {
    const play = new Play().open().partials({ a: 'The', b: 'The', c: 'The' });
    expect(play.state).toBe('PROVISIONAL');
    play.final('a', 'The');
    expect(play.result).toMatchObject({ ended_by: 'early_exit', answer: 'The', partial: false });
  });

  test('does not rest on the streams it would cancel', () => {
    const lanes = [
      { lane_id: 'g', tier: 'gold' },
      's',
      ...[1, 2, 3, 4, 5].map((n) => ({ lane_id: `b${n}`, tier: 'bronze' })),
    ];
    const play = new Play({ lanes }).open();
    play.partials({ s: 'red', b1: 'blue', b2: 'blue', b3: 'blue', b4: 'blue', b5: 'blue' }).final('g', 'blue');
    // 6 of 7, but without the bronze streams 1 of 2.
    expect(play.session.agreement).toBeCloseTo(6 / 7);
    expect(play.state).toBe('PROVISIONAL');
    play.final('s', 'blue');
    expect(play.result).toMatchObject({ ended_by: 'early_exit', agreement: 1, below_threshold: false });
  });

  test('is none where it is switched off', () => {
    const play = new Play({ policy: noEarlyExit }).open().final('a', 'blue').final('b', 'blue');
    expect(play.state).toBe('PROVISIONAL');
  });

  test('that waits for premium gives them the freed budget and finalises when they have ended', () => {
    const estimate = (_: unknown, __: unknown, tier: string) =>
      tier === 'bronze' ? { tokens: 101, usdMicros: 51 } : { tokens: 10, usdMicros: 10 };
    const policy = { early_exit: { wait_for_premium: true } };
    const play = new Play(
      { lanes: [...tiers, 'x', 'y'], policy, budget: { max_tokens: 242, max_usd: 1 } },
      { estimate },
    ).open();
    play.reports(
      ['c', { type: 'PARTIAL', text: 'blue', usage: { tokens: 40, usdMicros: 20 } }],
      ['x', finals('blue', 10)],
      ['b', finals('blue', 101)],
    );
    expect(play.way).toBe('FINAL>BUFFERING, QUORUM_REACHED>PROVISIONAL, EARLY_EXIT>PROVISIONAL');
    expect(play.lanes).toBe('g STREAMING, s STREAMING, b FINALIZED, c CANCELLED early_exit, x FINALIZED, y STREAMING');
    expect(play.told('budget')).toEqual([
      {
        at: expect.any(String),
        action: 'reallocate_budget',
        freed_tokens: 61,
        freed_usd: '0.000031',
        to: ['g', 's', 'y'],
      },
    ]);
    expect(['g', 's', 'y'].map((id) => play.held(id))).toEqual(Array(3).fill({ tokens: 10 + 20, usdMicros: 10 + 10 }));
    play.finals({ g: 'blue', s: 'blue', y: 'red' });
    expect(play.result).toMatchObject({ ended_by: 'early_exit', completed_count: 5, agreement: 0.8 });
    expect(play.result.cancelled).toEqual([{ lane_id: 'c', reason: 'early_exit' }]);
  });

  test('that waits does not free the same budget twice', () => {
    const policy = { early_exit: { wait_for_premium: true } };
    const lanes = [
      'a',
      'b',
      { lane_id: 'c', tier: 'bronze' },
      { lane_id: 'd', weight: 3 },
      { lane_id: 'e', weight: 99 },
      'f',
    ];
    const play = new Play({ lanes, policy }).open().finals({ a: 'blue', b: 'blue' });
    play.final('d', 'red').final('e', 'blue');
    expect(play.told('budget').map((event) => event['freed_tokens'])).toEqual([10, 0]);
    expect(play.held('f').tokens).toBe(10 + 3);
  });

  test('that waits ends as any session when there is no premium lane to wait for', () => {
    const lanes = ['a', 'b', { lane_id: 'c', tier: 'bronze' }];
    const play = new Play({ lanes, policy: { early_exit: { wait_for_premium: true } } }).open();
    expect(play.finals({ a: 'blue', b: 'blue' }).result).toMatchObject({ ended_by: 'early_exit' });
    expect(play.told('budget')).toEqual([]);
  });

  test('that waits for premium until the deadline was ended by it', () => {
    const policy = { deadline_ms: 100, early_exit: { wait_for_premium: true } };
    const play = new Play({ policy }).open().finals({ a: 'blue', b: 'blue' }).wait();
    expect(play.result).toMatchObject({
      ended_by: 'deadline',
      cancelled: [{ lane_id: 'c', reason: 'session_complete' }],
    });
  });
});

describe('a session that is decided', () => {
  const lanes = ['a', 'b', 'c', 'd', 'e'];

  test('ends once no lane that still runs could change its answer, and says what it saved', () => {
    const play = new Play({ lanes }).open().finals({ a: 'red', b: 'blue', c: 'blue' });
    expect(play.state).toBe('PROVISIONAL');
    play.final('d', 'blue');
    expect(play.way).toContain('DECIDED>RECONCILING');
    expect(play.result).toMatchObject({
      answer: 'blue',
      ended_by: 'decided',
      cancelled: [{ lane_id: 'e', reason: 'session_complete' }],
      saved: { tokens: 10, usd: '0' },
    });
  });

  test.each<[string, PlayBody['policy']]>([
    ['early exit is off', noEarlyExit],
    ['a merge would change with every answer', { reconciliation: 'weighted_merge' }],
    ['a need chooses such a merge', { adaptive: { enabled: true, cost_sensitivity: 1 } }],
  ])('is not where %s', (_, policy) => {
    const play = new Play({ lanes, policy }).open().finals({ a: 'red', b: 'blue', c: 'blue' }).final('d', 'blue');
    expect(play.state).toBe('PROVISIONAL');
  });

  test('counts tentative votes for nothing', () => {
    const play = new Play({ lanes }).open().partials({ a: 'blue', b: 'blue', c: 'blue' }).final('d', 'red');
    expect(play.state).toBe('PROVISIONAL');
  });
});
