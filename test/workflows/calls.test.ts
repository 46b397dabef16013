import { withLessTime } from '../../workflows/calls.js';

describe('a call that is made again once a person has answered', () => {
  const before = { workedMs: 4_000, waitedMs: 9_000_000 };
  test.each<[string, object, object]>([
    [
      'less of its own time by what it worked, and not by what it waited',
      { type: 'ask', timeoutMs: 10_000 },
      { type: 'ask', timeoutMs: 6_000 },
    ],
    [
      'less of the time of its work, too',
      { timeoutMs: 120_000, leftMs: 10_000 },
      { timeoutMs: 116_000, leftMs: 6_000 },
    ],
    ['the least that there is where nothing is left', { leftMs: 4_000 }, { leftMs: 1 }],
    ['no limit where it had none', { type: 'prepare' }, { type: 'prepare' }],
  ])('has %s', (_, effect, left) => {
    expect(withLessTime(effect, before)).toEqual(left);
    expect(withLessTime(effect, { workedMs: 0, waitedMs: 0 })).toEqual(effect);
  });
});
