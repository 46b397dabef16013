import type { Json } from '../../../src/contracts/frames.js';
import { stepSession } from '../../../src/domain/session/session.js';
import { finals, fails, Play, type PlayBody } from '../../support/session-play.js';

const noEarlyExit = { early_exit: { enabled: false } };
const premium = {
  allowed: true,
  lane: { lane_id: 'p', adapter: { kind: 'scripted' as const, script: [{ final: 'x' }] } },
};
const arbiter = { allowed: true, adapter: { kind: 'scripted' as const, script: [{ final: 'x' }] } };
const answer = (text: Json, usdMicros = 0) =>
  ({ type: 'ARBITER_RESULT', record: { usage: { tokens: 4, usdMicros }, outcome: 'answered', answer: text } }) as const;
const noArbiter = (outcome: 'failed' | 'timeout') =>
  ({ type: 'ARBITER_RESULT', record: { usage: { tokens: 0, usdMicros: 0 }, outcome, answer: null } }) as const;

describe('a session that is dispatched', () => {
  test('admits its lanes, hands the called ones to one group and waits for a worker', () => {
    const play = new Play({ lanes: ['a', { lane_id: 'x', adapter: { kind: 'external' } }, 'b'] }).take({
      type: 'FAN_OUT',
    });
    expect(play.effects).toEqual([{ type: 'run_lanes', group: 'lanes-1', lanes: ['a', 'b'] }]);
    expect(play.lanes).toBe('a ADMITTED, x STREAMING, b ADMITTED');
    // An external lane is open at once, so the session streams.
    expect(play.state).toBe('STREAMING');
    expect(new Play().take({ type: 'FAN_OUT' }).session.waiting).toMatchObject({ for: 'worker', on: 'dispatch' });
  });

  test('streams with the lanes that could be dispatched', () => {
    const play = new Play().take({ type: 'FAN_OUT' });
    play.report('a', { type: 'DISPATCH_ERR', code: 'EAGENTDOWN', message: 'no route' });
    expect(play.state).toBe('DISPATCHED');
    play.report('b', { type: 'DISPATCH_OK' });
    expect(play.state).toBe('STREAMING');
    expect(play.lanes).toBe('a FAILED EAGENTDOWN, b STREAMING, c ADMITTED');
  });

  test('fails only when no lane at all could be dispatched, and rolls the budget back', () => {
    const refused = { policyFault: (_: string, __: unknown, tier: string) => (tier === 'gold' ? 'no gold' : null) };
    const play = new Play({ lanes: [{ lane_id: 'a', tier: 'gold' }, 'b'] }, refused).take({ type: 'FAN_OUT' });
    expect(play.lanes).toBe('a REJECTED ESEC, b ADMITTED');
    expect(play.lane('b').reserved).toEqual({ tokens: 10, usdMicros: 0 });
    play.report('b', { type: 'DISPATCH_ERR', code: 'EAGENTDOWN', message: 'no route' });
    expect(play.path).toEqual(['FAN_OUT>DISPATCHED', 'DISPATCH_ERR>ERROR']);
    expect(play.lane('b').reserved).toEqual({ tokens: 0, usdMicros: 0 });
    expect(play.session.error).toMatchObject({
      code: 'ECONSENSUS',
      message: 'no lane could be dispatched: a: ESEC no gold; b: EAGENTDOWN no route',
      lanes: [
        { lane_id: 'a', state: 'REJECTED' },
        { lane_id: 'b', state: 'FAILED' },
      ],
    });
    expect(play.logs).toEqual(['no lane could be dispatched']);
    expect(play.told('budget')).toMatchObject([{ action: 'roll_back_budget' }]);
  });

  test('fails at once when every lane is rejected, with every guard that failed', () => {
    const operator = {
      policyFault: () => 'nothing is allowed',
      estimate: () => ({ unpriced: 'no price is known' }),
    };
    const body = { lanes: ['a'], policy: { window: { max_parallel: 0 } } };
    const play = new Play(body, operator).take({ type: 'FAN_OUT' });
    expect(play.path).toEqual(['FAN_OUT>DISPATCHED', 'DISPATCH_ERR>ERROR']);
    expect(play.lane('a').reason?.all?.map(({ code }) => code)).toEqual(['EWINDOW', 'EBUDGET', 'ESEC']);
  });

  test('rejects a lane without a price with EBUDGET, not with ESEC', () => {
    const play = new Play({ lanes: ['a'] }, { estimate: () => ({ unpriced: 'no price is known' }) });
    expect(play.take({ type: 'FAN_OUT' }).lane('a')).toMatchObject({
      state: 'REJECTED',
      reason: { code: 'EBUDGET', message: 'no price is known' },
    });
  });

  test('admits gold before silver before bronze, whatever their order', () => {
    const lanes = ['bronze', 'gold', 'silver'].map((tier) => ({ lane_id: tier, tier }));
    const play = new Play({ lanes, policy: { window: { max_parallel: 2 } } }).take({ type: 'FAN_OUT' });
    expect(play.lanes).toBe('bronze REJECTED EWINDOW, gold ADMITTED, silver ADMITTED');
  });

  test('refuses a second fan-out and stays as it is', () => {
    const play = new Play().open();
    expect(() => stepSession(play.session, { type: 'FAN_OUT' }, play.now)).toThrow(
      'session in STREAMING cannot take FAN_OUT; it accepts PARTIAL, FINAL, DEADLINE, NO_ANSWER, CANCEL.',
    );
  });

  test('starts its deadline at the first dispatch, which no worker’s clock moves', () => {
    const play = new Play({ policy: { deadline_ms: 100 } }).take({ type: 'FAN_OUT' }).at(50);
    play.report('a', { type: 'DISPATCH_OK', at: 9_000_000 });
    expect(play.session.deadlineAt).toBe(1_150);
    const early = new Play({ policy: { deadline_ms: 100 } }).take({ type: 'FAN_OUT' }).at(50);
    expect(early.report('a', { type: 'DISPATCH_OK', at: 3 }).session.deadlineAt).toBe(1_100);
  });
});

describe('a session', () => {
  test.each<[string, PlayBody, (play: Play) => unknown, string]>([
    ['buffers at the first PARTIAL', {}, (p) => p.partial('a', 'bl'), 'PARTIAL>BUFFERING'],
    ['buffers at the first FINAL', {}, (p) => p.final('a', 'blue'), 'FINAL>BUFFERING'],
    [
      'buffers at a first PARTIAL whose lane failed in the same instant',
      {},
      (p) => p.reports(['a', { type: 'PARTIAL', text: 'bl' }], ['a', fails()]),
      'PARTIAL>BUFFERING',
    ],
    ['needs quorum_min lanes', {}, (p) => p.partial('a', 'blue'), 'PARTIAL>BUFFERING'],
    [
      'has a quorum of one where quorum_min is 1',
      { policy: { quorum_min: 1 } },
      (p) => p.partial('a', 'blue'),
      'PARTIAL>BUFFERING, QUORUM_REACHED>PROVISIONAL',
    ],
    [
      'does not count a lane that has failed for quorum_min',
      {},
      (p) => p.partial('a', 'blue').fail('a').partial('b', 'blue'),
      'PARTIAL>BUFFERING',
    ],
    [
      'does not count a lane that was rejected',
      { policy: { window: { max_parallel: 2 } } },
      (p) => p.partial('a', 'blue').fail('b'),
      'PARTIAL>BUFFERING',
    ],
    [
      'does not count a lane that delivered nothing but space',
      {},
      (p) => p.partial('a', 'blue').partial('b', ' \n').final('b', ''),
      'PARTIAL>BUFFERING',
    ],
    [
      'is at quorum exactly at the threshold',
      { lanes: ['a', 'b', 'c', 'd', 'e', 'f'], policy: noEarlyExit },
      (p) => p.finals({ a: 'blue', b: 'blue', c: 'red', d: 'red', e: 'blue' }),
      'FINAL>BUFFERING, QUORUM_REACHED>PROVISIONAL',
    ],
    [
      'is not at quorum a hair below the threshold',
      { lanes: [{ lane_id: 'a', weight: 0.599 }, { lane_id: 'b', weight: 0.401 }, 'c'] },
      (p) => p.finals({ a: 'blue', b: 'red' }),
      'FINAL>BUFFERING',
    ],
    [
      'is at quorum within 1e-9 of the threshold: decimals that add up to 0.6 only almost',
      {
        lanes: [
          ...[0.1, 0.2, 0.3].map((weight, n) => ({ lane_id: `a${n}`, weight })),
          { lane_id: 'b', weight: 0.4 },
          'c',
        ],
        policy: noEarlyExit,
      },
      (p) => p.finals({ a0: 'blue', a1: 'blue', a2: 'blue', b: 'red' }),
      'FINAL>BUFFERING, QUORUM_REACHED>PROVISIONAL',
    ],
    [
      'goes straight to its final when all lanes agree in one instant',
      {},
      (p) => p.finals({ a: 'blue', b: 'blue', c: 'Blue.' }),
      'FINAL>BUFFERING, ALL_ENDED>RECONCILING, RECONCILED>COMPLETE',
    ],
    [
      'decides alone by agreement once all lanes have ended',
      { policy: { quorum_min: 3 } },
      (p) => p.final('a', 'blue').fail('b').fail('c'),
      'FINAL>BUFFERING, ALL_ENDED>RECONCILING, RECONCILED>COMPLETE',
    ],
    [
      'is reconciled through DEADLINE when its lanes have ended below the threshold',
      {},
      (p) => p.finals({ a: 'red', b: 'blue', c: 'green' }),
      'FINAL>BUFFERING, ALL_ENDED>DEADLINE, RECONCILE>RECONCILING, RECONCILED>COMPLETE',
    ],
    ['whose every lane fails is an error', {}, (p) => p.fail('a').fail('b').fail('c'), 'NO_ANSWER>ERROR'],
    [
      'whose every lane fails after it streamed is an error',
      {},
      (p) => p.partial('a', 'bl').fail('a').fail('b').fail('c'),
      'PARTIAL>BUFFERING, NO_ANSWER>ERROR',
    ],
    [
      'whose every lane fails after a provisional is an error',
      {},
      (p) => p.partials({ a: 'blue', b: 'blue' }).reports(['a', fails()], ['b', fails()], ['c', fails()]),
      'PARTIAL>BUFFERING, QUORUM_REACHED>PROVISIONAL, NO_ANSWER>ERROR',
    ],
    [
      'whose finals are all empty is an error',
      {},
      (p) => p.finals({ a: '', b: ' ', c: null }),
      'FINAL>BUFFERING, NO_ANSWER>ERROR',
    ],
    [
      'is never at quorum without an answer, not even with a threshold of 0',
      { policy: { threshold: 0, quorum_min: 1 } },
      (p) => p.finals({ a: '', b: '' }),
      'FINAL>BUFFERING',
    ],
  ])('%s', (_, body, act, way) => {
    const play = new Play(body).open();
    act(play);
    expect(play.way).toBe(way);
  });

  test('leaves rejected, failed and cancelled lanes out of numerator and denominator', () => {
    const lanes = ['a', 'b', { lane_id: 'c', weight: 100 }, { lane_id: 'd', weight: 100 }];
    const play = new Play({ lanes, policy: noEarlyExit }).open();
    play.partials({ c: 'red', d: 'red' }).finals({ a: 'blue', b: 'blue' });
    expect(play.session.agreement).toBeCloseTo(200 / 202);
    play.reports(
      ['c', fails()],
      ['d', { type: 'CANCEL', reason: { code: 'preempted', message: 'no money' }, usage: { tokens: 0, usdMicros: 0 } }],
    );
    expect(play.result).toMatchObject({
      answer: 'blue',
      agreement: 1,
      against: [],
      total_weight: 2,
      cancelled: [{ lane_id: 'd', reason: 'preempted' }],
      saved: { tokens: 0, usd: '0' },
    });
  });

  test('does not publish a first chunk of a single lane', () => {
    expect(new Play().open().partial('a', 'The').told('provisional')).toEqual([]);
  });

  test('takes a batch as one instant: the lanes take all of it, then it decides', () => {
    const together = new Play({ policy: noEarlyExit }).open().finals({ a: 'blue', b: 'blue', c: 'red' });
    expect(together.told('provisional')).toEqual([]);
    expect(together.way).toContain('ALL_ENDED');
  });

  test('counts reports of no lane, and late ones', () => {
    const play = new Play().open().final('a', 'blue').partial('a', 'more').fail('nobody');
    expect(play.session.dropped).toBe(2);
    expect(play.lane('a')).toMatchObject({ state: 'FINALIZED', answer: 'blue' });
  });
});

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
    expect(['g', 's', 'y'].map((id) => play.lane(id).reserved)).toEqual(
      Array(3).fill({ tokens: 10 + 20, usdMicros: 10 + 10 }),
    );
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
    expect(play.lane('f').reserved.tokens).toBe(10 + 3);
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

describe('an escalation', () => {
  const policy = { deadline_ms: 1_000, escalation: premium };
  const doubt = { a: 'red', b: 'blue', c: 'green' };

  test('adds a premium lane on low confidence, in a group of its own, and waits for it', () => {
    const play = new Play({ policy }).open().finals(doubt);
    expect(play.way).toBe('FINAL>BUFFERING, ALL_ENDED>DEADLINE, ESCALATE>BUFFERING');
    expect(play.effects.at(-1)).toEqual({ type: 'run_lanes', group: 'lanes-2', lanes: ['p'] });
    expect(play.lane('p')).toMatchObject({ state: 'ADMITTED', setup: { tier: 'gold' }, reserved: { tokens: 10 } });
    expect(play.logs).toEqual(['escalated: low_confidence']);
    play.report('p', { type: 'DISPATCH_OK' }).final('p', 'blue');
    expect(play.way).toBe(
      'FINAL>BUFFERING, ALL_ENDED>DEADLINE, ESCALATE>BUFFERING, ALL_ENDED>DEADLINE, RECONCILE>RECONCILING, RECONCILED>COMPLETE',
    );
    expect(play.result).toMatchObject({ answer: 'blue', agreement: 0.5, escalated: true, ended_by: 'all_final' });
  });

  test('comes at most as often as the limit says, each a lane of its own', () => {
    const play = new Play({ policy: { ...policy, escalation: { ...premium, limit: 2 } } }).open().finals(doubt);
    play.report('p', { type: 'DISPATCH_OK' }).final('p', 'yellow');
    play.report('p#2', { type: 'DISPATCH_OK' }).final('p#2', 'white');
    expect(play.session.escalations).toBe(2);
    expect(play.state).toBe('COMPLETE');
    expect(play.effects.flatMap((effect) => (effect.type === 'run_lanes' ? [effect.group] : []))).toEqual([
      'lanes-1',
      'lanes-2',
      'lanes-3',
    ]);
  });

  test.each<[string, PlayBody, object]>([
    ['where it is not allowed', { policy: { escalation: { ...premium, allowed: false } } }, {}],
    ['with a limit of 0', { policy: { escalation: { ...premium, limit: 0 } } }, {}],
    [
      'without budget for it',
      { budget: { max_tokens: 24 }, policy },
      { estimate: () => ({ tokens: 8, usdMicros: 0 }) },
    ],
    [
      'to a lane that policy forbids',
      { policy },
      { policyFault: (_: string, __: unknown, tier: string) => (tier === 'gold' ? 'no gold' : null) },
    ],
  ])('is none %s', (_, body, operator) => {
    const play = new Play(body, operator)
      .open()
      .reports(
        ...Object.entries(doubt).map(([lane, text]): [string, ReturnType<typeof finals>] => [lane, finals(text, 8)]),
      );
    expect(play.way).not.toContain('ESCALATE');
    expect(play.result).toMatchObject({ escalated: false, below_threshold: true });
  });

  test('is none from the deadline on', () => {
    const play = new Play({ policy }).open().finals({ a: 'red', b: 'blue' }).wait();
    expect(play.result).toMatchObject({ ended_by: 'deadline', escalated: false });
    const late = new Play({ policy }).open().at(1_000).finals(doubt);
    expect(late.result).toMatchObject({ escalated: false });
  });

  test('is none at exactly the threshold', () => {
    const lanes = ['a', 'b', 'c', 'd', 'e'];
    const play = new Play({ lanes, policy }).open().finals({ a: 'red', b: 'red', c: 'blue', d: 'blue', e: 'red' });
    expect(play.result).toMatchObject({ agreement: 0.6, escalated: false });
  });

  test('on disagreement is asked for by name', () => {
    const of = (on_disagreement: boolean): Play =>
      new Play({ policy: { ...policy, escalation: { ...premium, on_disagreement } } })
        .open()
        .finals({ a: 'blue', b: 'blue', c: 'red' });
    expect(of(false).result).toMatchObject({ escalated: false, agreement: 2 / 3 });
    expect(of(true).logs).toEqual(['escalated: disagreement']);
  });

  test.each<[string, PlayBody['policy']]>([
    ['early exit', {}],
    ['a quorum with provisional off', { provisional: { enabled: false } }],
  ])('is heard out: what it was called in for does not end it by %s', (_, more) => {
    const lanes = 'abcdefghi'.split('');
    const escalation = { ...premium, on_disagreement: true };
    const play = new Play({ lanes: [...lanes, 'z'], policy: { ...policy, ...more, escalation } }).open();
    play.finals({ ...Object.fromEntries(lanes.map((id) => [id, 'blue'])), z: 'red' });
    expect(play.lane('p').state).toBe('ADMITTED');
    play.report('p', { type: 'DISPATCH_OK' }).partial('p', 'red');
    expect(play.lane('p').state).toBe('STREAMING');
    play.final('p', 'red');
    expect(play.result).toMatchObject({ escalated: true, completed_count: 11, ended_by: 'all_final' });
  });

  test('whose lane fails changes nothing', () => {
    const play = new Play({ policy }).open().finals(doubt);
    play.report('p', { type: 'DISPATCH_ERR', code: 'EAGENTDOWN', message: 'no route' });
    expect(play.result).toMatchObject({ escalated: true, below_threshold: true, agreement: 1 / 3 });
  });
});

describe('an arbiter', () => {
  const policy = { arbiter };
  const doubt = { a: 'red', b: 'blue' };
  const of = (body: PlayBody = {}, operator = {}): Play =>
    new Play({ lanes: ['a', 'b'], ...body, policy: { ...policy, ...body.policy } }, operator).open().finals(doubt);

  test('settles what diverges', () => {
    const play = of();
    expect(play.way).toBe('FINAL>BUFFERING, ALL_ENDED>DEADLINE, RECONCILE>ARBITER');
    expect(play.effects.at(-1)).toEqual({ type: 'arbitrate' });
    expect(play.session.waiting).toMatchObject({ on: 'arbiter' });
    play.take(answer('Blue!', 50_000));
    expect(play.way).toMatch(/ARBITER_RESULT>RECONCILING, RECONCILED>COMPLETE$/);
    expect(play.result).toMatchObject({
      answer: 'Blue!',
      arbiter_used: true,
      arbiter_fallback: null,
      ended_by: 'arbiter',
      winner: null,
      for: [{ lane_id: 'b', weight: 1 }],
      against: [{ lane_id: 'a', weight: 1 }],
      agreement: 0.5,
      below_threshold: true,
    });
  });

  test.each(['failed', 'timeout'] as const)('that has %s leaves it to the policy', (outcome) => {
    expect(of().take(noArbiter(outcome)).result).toMatchObject({
      answer: 'red',
      arbiter_used: false,
      arbiter_fallback: outcome,
      ended_by: 'all_final',
    });
  });

  test.each(['', null])('that answers %j has failed', (nothing) => {
    expect(of().take(answer(nothing)).result).toMatchObject({
      answer: 'red',
      arbiter_used: false,
      arbiter_fallback: 'failed',
      ended_by: 'all_final',
    });
  });

  test.each<[string, number, number, boolean]>([
    ['0.05 of 0.10', 50_000, 0.1, true],
    ['0.10 of 0.10', 100_000, 0.1, true],
    ['more than it may', 100_001, 0.1, false],
    ['anything where nothing may be spent', 0, 0, false],
  ])('is asked before it is paid: for %s', (_, usdMicros, max_usd, asked) => {
    const play = of({ policy: { arbiter: { ...arbiter, max_usd } } }, { estimate: () => ({ tokens: 1, usdMicros }) });
    expect(play.state).toBe(asked ? 'ARBITER' : 'COMPLETE');
    if (!asked) {
      expect(play.result).toMatchObject({ arbiter_used: false, arbiter_fallback: 'budget', below_threshold: true });
      expect(play.logs.join()).toContain('the arbiter is not asked: arbiter.max_usd is');
    }
  });

  test('is not asked when the session’s budget is used up', () => {
    const estimate = (_: unknown, __: unknown, tier: string) => ({ tokens: tier === 'gold' ? 11 : 5, usdMicros: 0 });
    // Its lanes have used 10.
    expect(of({ budget: { max_tokens: 21 } }, { estimate }).state).toBe('ARBITER');
    const poor = of({ budget: { max_tokens: 20 } }, { estimate });
    expect(poor.result).toMatchObject({ arbiter_used: false, arbiter_fallback: 'budget' });
    expect(poor.logs).toEqual(['the arbiter is not asked: needs 11 tokens; 10 of max_tokens 20 are left']);
  });

  test('that policy forbids has failed, for no want of money', () => {
    const policyFault = (_: string, __: unknown, tier: string) => (tier === 'gold' ? 'no gold' : null);
    expect(of({}, { policyFault }).result).toMatchObject({ arbiter_fallback: 'failed' });
  });

  test('is not asked while an escalation can be, and is not marked as refused by it', () => {
    const play = of({ policy: { escalation: premium, arbiter: { ...arbiter, max_usd: 0 } } });
    expect(play.way).toContain('ESCALATE>BUFFERING');
    play.report('p', { type: 'DISPATCH_OK' }).final('p', 'blue');
    expect(play.result).toMatchObject({ agreement: 2 / 3, arbiter_fallback: null });
    expect(play.logs).toEqual(['escalated: low_confidence']);
  });

  test.each<[string, (play: Play) => Play]>([
    ['results that converge', (play) => play.finals({ a: 'blue', b: 'blue' })],
    ['a single result, which never diverges', (play) => play.final('a', 'red').fail('b')],
  ])('is never asked of %s', (_, act) => {
    const play = act(new Play({ lanes: ['a', 'b'], policy }).open());
    expect(play.result).toMatchObject({ agreement: 1, arbiter_used: false, arbiter_fallback: null });
  });

  test('is asked of partial answers at the deadline too', () => {
    const play = new Play({ lanes: ['a', 'b'], policy: { ...policy, deadline_ms: 9 } }).open();
    play.partials(doubt).wait();
    expect(play.state).toBe('ARBITER');
    // What comes now is too late to count.
    play.final('a', 'purple').take(noArbiter('failed'));
    expect(play.result).toMatchObject({
      answer: 'red',
      partial: true,
      ended_by: 'deadline',
      arbiter_fallback: 'failed',
    });
  });

  test('comes before a merge, which is then needed only if it fails', () => {
    const merging = { policy: { reconciliation: 'weighted_merge' as const, merge: { adapter: arbiter.adapter } } };
    const settled = of(merging);
    expect(settled.effects.map(({ type }) => type)).toEqual(['run_lanes', 'arbitrate']);
    expect(settled.take(answer('teal')).result).toMatchObject({ answer: 'teal' });
    const failed = of(merging).take(noArbiter('failed'));
    expect(failed.effects.at(-1)).toEqual({ type: 'merge_texts' });
    expect(failed.state).toBe('RECONCILING');
  });

  test('whose answer nobody waits for any more is paid and counted', () => {
    const play = of().cancel().take(answer('blue', 7));
    expect(play.session).toMatchObject({
      state: 'CANCELLED',
      dropped: 1,
      overhead: { tokens: 4, usdMicros: 7 },
      arbiter: null,
    });
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
      .take(answer('x'))
      .take({ type: 'MERGED', record: answer('x').record })
      .scored([['a']], 'a:final')
      .tick();
    play.take({ type: 'GROUP_ENDED', group: 'lanes-1', message: 'over' });
    const { steppedAt: _, dropped, overhead, lanes, ...rest } = play.session;
    const { steppedAt: __, dropped: ___, overhead: ____, lanes: were, ...was } = before;
    expect(rest).toEqual(was);
    expect(dropped).toBe(8);
    // Money that was spent is told, whenever it is heard of.
    expect(overhead.tokens).toBe(4 + 4 + 3);
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
