import { GovernorPlay, settingsOf } from '../../support/governor-play.js';

describe('a refusal by the provider', () => {
  const throttle = (retryAfterMs: number | null, jitter = 0): GovernorPlay => {
    const play = new GovernorPlay({});
    play.want({ id: 'a' });
    play.end('a', { outcome: 'throttled', retryAfterMs }, jitter);
    return play;
  };
  test.each([
    [2_000, 0, 2_000],
    [2_000, 1, 2_200],
    [0, 0, 0],
    [null, 0, 250],
    [null, 1, 500],
  ])('with Retry-After %p and jitter %d pauses the model for %i ms', (retryAfterMs, jitter, pauseMs) => {
    const play = throttle(retryAfterMs, jitter);
    expect(play.want({ id: 'b' }, { id: 'c', model: 'other' })).toEqual(pauseMs === 0 ? ['b', 'c'] : ['c']);
    if (pauseMs === 0) return;
    expect(play.nextIn).toBe(pauseMs);
    expect(play.after(pauseMs - 1)).toEqual([]);
    expect(play.after(1)).toEqual(['b']);
  });
  test('pauses longer each time until the model answers', () => {
    const play = new GovernorPlay({});
    const pauses = Array.from({ length: 6 }, (_, index) => {
      play.want({ id: `t${index}` });
      play.end(`t${index}`, { outcome: 'throttled' }, 1);
      const pauseMs = (play.state.pools[1]?.pausedUntil ?? 0) - play.now;
      play.now += pauseMs;
      return pauseMs;
    });
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 4_000, 4_000]);
    play.want({ id: 'ok' });
    play.end('ok');
    play.want({ id: 'again' });
    play.end('again', { outcome: 'throttled' }, 1);
    expect((play.state.pools[1]?.pausedUntil ?? 0) - play.now).toBe(500);
  });
  test('never shortens a pause, and leaves no pool behind', () => {
    const play = new GovernorPlay({});
    play.want({ id: 'a' }, { id: 'b' });
    play.end('a', { outcome: 'throttled', retryAfterMs: 3_000 });
    play.end('b', { outcome: 'throttled', retryAfterMs: 10 });
    expect(play.state.pools[1]?.pausedUntil).toBe(play.now + 3_000);
    play.after(3_000 + settingsOf().longestBackoffMs);
    expect(play.state.pools.map(({ model }) => model)).toEqual([null]);
  });
});

describe('a provider that fails', () => {
  const broken = (): GovernorPlay => {
    const play = new GovernorPlay({});
    for (const id of ['a', 'b', 'c']) {
      play.want({ id });
      play.end(id, { outcome: 'failed' });
    }
    return play;
  };
  test('is asked no more until it has cooled, then by one call alone', () => {
    const play = broken();
    expect(play.want({ id: 'd' }, { id: 'e' })).toEqual([]);
    expect(play.nextIn).toBe(1_000);
    expect(play.after(1_000)).toEqual(['d']);
    expect(play.want({ id: 'f' })).toEqual([]);
    expect(play.end('d')).toEqual(['e', 'f']);
  });
  test('cools longer where that call fails too', () => {
    const play = broken();
    play.want({ id: 'd' }, { id: 'e' });
    play.after(1_000);
    expect(play.end('d', { outcome: 'failed' })).toEqual([]);
    expect(play.nextIn).toBe(2_000);
    expect(play.after(2_000)).toEqual(['e']);
  });
  test('is tried by another where nothing is heard of that call', () => {
    const play = broken();
    play.want({ id: 'd' }, { id: 'e' });
    play.after(1_000);
    expect(play.after(5_000)).toEqual(['e']);
  });
  test('is not known to fail by what it refuses, or by calls that were not sent', () => {
    const play = new GovernorPlay({});
    for (let call = 0; call < 5; call += 1) {
      play.want({ id: `t${call}` }, { id: `u${call}` });
      play.end(`t${call}`, { outcome: 'throttled', retryAfterMs: 0 });
      play.end(`u${call}`, { outcome: 'unused' });
    }
    expect(play.state.breaker.state).toBe('CLOSED');
  });
  test('is not closed again by the end of a call from before', () => {
    const play = new GovernorPlay({});
    play.want({ id: 'old' });
    for (const id of ['a', 'b', 'c']) {
      play.want({ id });
      play.end(id, { outcome: 'failed' });
    }
    play.end('old');
    expect(play.state.breaker.state).toBe('OPEN');
  });
});
