import type { Ending } from '../../../src/domain/governor/ending.js';
import type { PoolLimits } from '../../../src/domain/governor/pool.js';
import { stepGovernor } from '../../../src/domain/governor/governor.js';
import { GovernorPlay, settingsOf } from '../../support/governor-play.js';
import { deepFreeze } from '../../support/deep-freeze.js';

const limits = (of: Partial<PoolLimits>): PoolLimits => ({ requests: null, tokens: null, concurrency: null, ...of });
const one = (): GovernorPlay => new GovernorPlay({ limits: limits({ concurrency: 1 }) });

describe('a governor', () => {
  test('grants what fits now, and the next when one has ended', () => {
    const play = one();
    expect(play.want({ id: 'a' }, { id: 'b' })).toEqual(['a']);
    expect(play.last?.granted[0]).toMatchObject({
      id: 'a',
      grantedAt: play.now,
      expiresAt: play.now + 5_000,
      sentAt: null,
    });
    expect(play.end('a')).toEqual(['b']);
  });
  test('says when it has to be asked again', () => {
    const play = new GovernorPlay({ limits: limits({ requests: 1 }) });
    expect(play.want({ id: 'a' }, { id: 'b' })).toEqual(['a']);
    expect(play.nextIn).toBe(5_000);
    play.now += 100;
    expect(play.end('a', { agoMs: 30 })).toEqual([]);
    expect(play.nextIn).toBe(10_000 - 30 + 1);
    expect(play.after(9_970)).toEqual([]);
    expect(play.after(1)).toEqual(['b']);
    play.end('b');
    expect(play.nextIn).toBeNull();
  });
  test('takes a call in once, and tells its grant again to who asks again', () => {
    const play = one();
    play.want({ id: 'a' }, { id: 'b' });
    const before = play.state;
    expect(play.want({ id: 'a' }, { id: 'b' })).toEqual(['a']);
    expect(play.state).toEqual(before);
  });
  test('hears nothing of a call that is over or unknown', () => {
    const play = one();
    play.want({ id: 'a' });
    play.end('a');
    const before = play.state;
    play.end('a', { outcome: 'failed' });
    play.say([
      { type: 'sent', id: 'a', agoMs: 0 },
      { type: 'withdrawn', id: 'x' },
      { type: 'alive', worker: 'w9' },
    ]);
    expect(play.state).toEqual(before);
  });
  test('forgets a call that is withdrawn, unless it is granted', () => {
    const play = one();
    play.want({ id: 'a' }, { id: 'b' }, { id: 'c' });
    play.say([
      { type: 'withdrawn', id: 'b' },
      { type: 'withdrawn', id: 'a' },
    ]);
    expect([play.state.grants.map(({ id }) => id), play.end('a')]).toEqual([['a'], ['c']]);
  });
  test.each<[Partial<PoolLimits>, number, string]>([
    [
      { tokens: 100 },
      101,
      'acme is limited to 100 tokens, and the call needs 101; ask for a shorter answer, or with a shorter prompt',
    ],
    [{ requests: 0 }, 1, 'acme is limited to 0 requests, and the call needs 1; ask another'],
    [{ concurrency: 0 }, 1, 'acme is limited to 0 concurrency, and the call needs 1; ask another'],
    [{}, 1.5, 'the tokens of a call are a whole number, 0 or more; got 1.5'],
  ])('limited to %j refuses a call of %d tokens that could never go', (of, tokens, message) => {
    const play = new GovernorPlay({ limits: limits(of) });
    expect(play.want({ id: 'a', tokens })).toEqual([]);
    expect(play.last?.refused).toEqual([{ id: 'a', code: 'EWINDOW', message, retryable: false }]);
    expect(play.state.queue).toEqual([]);
  });
  test('refuses what is too large for a model alone', () => {
    const play = new GovernorPlay({ models: [{ model: 'm', limits: limits({ tokens: 10 }) }] });
    expect(play.want({ id: 'a', tokens: 11 }, { id: 'b', tokens: 11, model: 'n' })).toEqual(['b']);
    expect(play.last?.refused[0]?.message).toMatch(/^acme\/m is limited to 10 tokens/);
  });
  test('refuses calls for now once too many wait', () => {
    const play = new GovernorPlay({ limits: limits({ concurrency: 1 }), maxQueued: 1 });
    play.want({ id: 'a' });
    play.want({ id: 'b' }, { id: 'c' });
    expect(play.last?.refused).toEqual([
      { id: 'c', code: 'EWINDOW', message: '1 calls wait for acme already; try again later', retryable: true },
    ]);
  });
  test('lets a model wait without holding others up, and lets nobody overtake in what it waits for', () => {
    const play = new GovernorPlay({
      limits: limits({ tokens: 100 }),
      models: [{ model: 'large', limits: limits({ concurrency: 1 }) }],
    });
    expect(play.want({ id: 'l1', model: 'large' }, { id: 'l2', model: 'large' }, { id: 's1', tokens: 70 })).toEqual([
      'l1',
      's1',
    ]);
    // s2 waits for tokens, so that the small ones behind it do too; l2 waits for its own model first.
    expect(play.want({ id: 's2', tokens: 60 }, { id: 's3', tokens: 1, model: 'other' })).toEqual([]);
    expect(play.end('l1', { outcome: 'unused' })).toEqual(['l2']);
    expect(play.end('s1', { tokens: 39 })).toEqual(['s2', 's3']);
  });
  test('changes nothing of the state it is given, and says the same to the same', () => {
    const play = new GovernorPlay({ limits: limits({ requests: 2, tokens: 50, concurrency: 2 }) });
    play.want({ id: 'a', tokens: 20 }, { id: 'b', tokens: 20 }, { id: 'c', tokens: 20 });
    const state = deepFreeze(play.state);
    const ended: Ending = { outcome: 'answered', tokens: 5, agoMs: 3, retryAfterMs: null };
    const step = () => stepGovernor(state, [{ type: 'ended', id: 'a', ...ended }], play.now + 10);
    expect(step()).toEqual(step());
    expect(JSON.parse(JSON.stringify(step().governor))).toEqual(step().governor);
  });
});

describe('a grant', () => {
  test('is over when nothing was heard for its time, and counts whole from then', () => {
    const play = new GovernorPlay({ limits: limits({ tokens: 100 }) });
    expect(play.want({ id: 'a', tokens: 60 }, { id: 'b', tokens: 60 })).toEqual(['a']);
    expect(play.after(4_999)).toEqual([]);
    expect(play.last?.expired).toEqual([]);
    expect(play.after(1)).toEqual([]);
    expect(play.last?.expired.map(({ id }) => id)).toEqual(['a']);
    expect(play.nextIn).toBe(10_001);
    expect(play.after(10_001)).toEqual(['b']);
  });
  test('stands as long again as its worker is alive', () => {
    const play = one();
    play.want({ id: 'a', worker: 'w1' });
    play.now += 4_000;
    play.say([{ type: 'alive', worker: 'w1' }]);
    play.after(4_999);
    expect(play.state.grants).toHaveLength(1);
    play.after(1);
    expect(play.state.grants).toEqual([]);
  });
  test('of a dead worker is over at once, and what it wanted is forgotten', () => {
    const play = one();
    play.want({ id: 'a', worker: 'w1' }, { id: 'b', worker: 'w1' }, { id: 'c', worker: 'w2' });
    expect(play.say([{ type: 'dead', worker: 'w1' }])).toEqual(['c']);
    expect(play.last?.expired.map(({ id }) => id)).toEqual(['a']);
  });
  test('of a long call counts for one window, where it is told when it was sent', () => {
    const play = new GovernorPlay({ limits: limits({ requests: 1 }), leaseMs: 100_000 });
    play.want({ id: 'a' }, { id: 'b' });
    play.say([{ type: 'sent', id: 'a', agoMs: 0 }]);
    expect(play.after(10_001)).toEqual(['b']);
    expect(play.end('a', { agoMs: 10_001 })).toEqual([]);
  });
  test('is corrected at the time when it was sent, where that was told before', () => {
    const play = new GovernorPlay({ limits: limits({ tokens: 100 }) });
    play.want({ id: 'a', tokens: 80 });
    play.say([{ type: 'sent', id: 'a', agoMs: 0 }]);
    play.now += 2_000;
    play.end('a', { tokens: 10, agoMs: 500 });
    expect(play.want({ id: 'b', tokens: 90 })).toEqual(['b']);
  });
  test('that is not used gives back all it held', () => {
    const play = new GovernorPlay({ limits: limits({ requests: 1, tokens: 10 }) });
    expect(play.want({ id: 'a', tokens: 10 }, { id: 'b', tokens: 10 })).toEqual(['a']);
    expect(play.end('a', { outcome: 'unused' })).toEqual(['b']);
  });
});

describe('new settings', () => {
  test('hold from the next call on, with what is under way and what was used counted', () => {
    const play = new GovernorPlay({ limits: limits({ requests: 3 }) });
    play.want({ id: 'a' }, { id: 'b' }, { id: 'c' });
    play.end('a');
    const models = [{ model: 'm', limits: limits({ concurrency: 3 }) }];
    play.say([{ type: 'settings', settings: settingsOf({ limits: limits({ requests: 5 }), models }) }]);
    expect(play.want({ id: 'd' }, { id: 'e' })).toEqual(['d']);
    expect(play.end('b')).toEqual(['e']);
    expect(play.want({ id: 'f' })).toEqual([]);
    expect(play.end('c')).toEqual([]);
    expect(play.after(10_001)).toEqual(['f']);
  });
});
