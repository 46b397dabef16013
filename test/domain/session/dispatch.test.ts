import { stepSession } from '../../../src/domain/session/session.js';
import { fails, noEarlyExit, Play, type PlayBody } from '../../support/session-play.js';

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
    expect(play.held('b')).toEqual({ tokens: 10, usdMicros: 0 });
    play.report('b', { type: 'DISPATCH_ERR', code: 'EAGENTDOWN', message: 'no route' });
    expect(play.path).toEqual(['FAN_OUT>DISPATCHED', 'DISPATCH_ERR>ERROR']);
    expect(play.held('b')).toEqual({ tokens: 0, usdMicros: 0 });
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
