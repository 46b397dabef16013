import fc from 'fast-check';
import {
  newPool,
  type PoolLimits,
  readyAt,
  usage,
  withEnded,
  withGrant,
  withSent,
  withUnused,
} from '../../../src/domain/governor/pool.js';
import { corrected, fitsAt, type Uses, usedIn, withUse } from '../../../src/domain/governor/sliding-window.js';

describe('a sliding window', () => {
  const uses: Uses = [
    { at: 100, amount: 3 },
    { at: 400, amount: 2 },
    { at: 900, amount: 5 },
  ];
  test.each([
    [900, 10],
    [1_100, 10],
    [1_101, 7],
    [1_400, 7],
    [1_401, 5],
    [1_900, 5],
    [1_901, 0],
  ])('of a second counts at %i what came in the second before, both ends of it: %i', (now, amount) => {
    expect(usedIn(uses, now, 1_000)).toBe(amount);
  });
  test.each([
    [0, 10, 1_000],
    [1, 10, 1_101],
    [3, 10, 1_101],
    [4, 10, 1_401],
    [5, 10, 1_401],
    [6, 10, 1_901],
    [10, 10, 1_901],
    [11, 10, Infinity],
    [1, 20, 1_000],
  ])('has room for %i more under %i at %p', (need, limit, at) => {
    expect(fitsAt(uses, need, limit, 1_000, 1_000)).toBe(at);
  });
  test('forgets what no longer counts and keeps to its number of grains', () => {
    let kept: Uses = [];
    for (let at = 0; at < 120_000; at += 7) kept = withUse(kept, { at, amount: 1 }, at, 60_000);
    expect(kept.length).toBeLessThanOrEqual(258);
    expect(usedIn(kept, 120_000, 60_000)).toBeGreaterThanOrEqual(Math.floor(60_000 / 7));
  });
  test('never counts less than was used, whatever the order in which it hears', () => {
    const heard = fc.array(fc.record({ ago: fc.nat(2_000), amount: fc.nat(9), pause: fc.nat(300) }), { maxLength: 60 });
    fc.assert(
      fc.property(heard, (list) => {
        let now = 10_000;
        let kept: Uses = [];
        const real: { at: number; amount: number }[] = [];
        for (const { ago, amount, pause } of list) {
          now += pause;
          kept = withUse(kept, { at: now - ago, amount }, now, 1_000);
          real.push({ at: now - ago, amount });
          expect(usedIn(kept, now, 1_000)).toBeGreaterThanOrEqual(usedIn(real, now, 1_000));
        }
        expect(kept.map(({ at }) => at)).toEqual(kept.map(({ at }) => at).toSorted((a, b) => a - b));
      }),
      { seed: 7, numRuns: 200 },
    );
  });
  test.each([
    [400, -1, [3, 1, 5]],
    [400, 4, [3, 6, 5]],
    [400, -9, [3, 0, 5]],
    [500, -1, [3, 2, 5]],
  ])('is corrected at %i by %i', (at, by, amounts) => {
    expect(corrected(uses, at, by, 1_000).map(({ amount }) => amount)).toEqual(amounts);
  });
});

describe('a pool', () => {
  const rhythm = { windowMs: 1_000, burst: 1 };
  const poolOf = (limits: Partial<PoolLimits>) =>
    newPool(null, { requests: null, tokens: null, concurrency: null, ...limits });

  test('holds a call against its limits from its grant on, and for a window after it was sent', () => {
    const granted = withGrant(poolOf({ requests: 1 }), 5, 0, rhythm);
    expect([usage(granted, 5_000, 1_000), readyAt(granted, 5, 5_000, rhythm)]).toEqual([
      { requests: 1, tokens: 5 },
      Infinity,
    ]);
    const sent = withSent(granted, 5, 4_500, 5_000, rhythm);
    expect([usage(sent, 5_500, 1_000).requests, readyAt(sent, 5, 5_000, rhythm)]).toEqual([1, 5_501]);
  });
  test('counts tokens that a call really used once it has ended', () => {
    const sent = withSent(withGrant(poolOf({ tokens: 100 }), 80, 0, rhythm), 80, 10, 10, rhythm);
    expect(readyAt(sent, 30, 20, rhythm)).toBe(1_011);
    const ended = withEnded(sent, 80, 25, 10, rhythm);
    expect([usage(ended, 20, 1_000).tokens, readyAt(ended, 75, 20, rhythm), readyAt(ended, 76, 20, rhythm)]).toEqual([
      25, 20, 1_011,
    ]);
  });
  test('is as before after a call that was never sent', () => {
    const pool = poolOf({ requests: 10, tokens: 100, concurrency: 1 });
    const returned = withUnused(withGrant(pool, 80, 500, rhythm), 80, rhythm);
    expect(returned).toMatchObject({ open: 0, unsent: { requests: 0, tokens: 0 } });
    expect(readyAt(returned, 100, 500, rhythm)).toBe(500);
  });
  test('has room for so many at a time and no more', () => {
    const one = withGrant(poolOf({ concurrency: 2 }), 1, 0, rhythm);
    const two = withGrant(one, 1, 0, rhythm);
    expect([readyAt(one, 1, 0, rhythm), readyAt(two, 1, 0, rhythm)]).toEqual([0, Infinity]);
  });
  test.each([
    [0, Infinity],
    [1, 0],
  ])('that allows %i requests is ready at %p', (requests, at) => {
    expect(readyAt(poolOf({ requests }), 1, 0, rhythm)).toBe(at);
  });
  test.each([
    [1, 10, 0],
    [0.5, 5, 100],
    [0.2, 2, 100],
    [0.1, 1, 100],
    [0.01, 1, 100],
  ])('with a burst of %d lets %i of 10 calls go at once and the next after %i ms', (burst, atOnce, then) => {
    const paced = { windowMs: 1_000, burst };
    let pool = poolOf({ requests: 10 });
    let calls = 0;
    while (calls < 10 && readyAt(pool, 1, 1_000, paced) === 1_000) {
      pool = withGrant(pool, 1, 1_000, paced);
      calls += 1;
    }
    expect(calls).toBe(atOnce);
    if (then > 0) expect(readyAt(pool, 1, 1_000, paced)).toBe(1_000 + then);
  });
});
