import type { Json } from '../../src/contracts/frames.js';
import type { Reconciliation } from '../../src/contracts/session.js';
import type { Vote } from '../../src/domain/agreement.js';
import { ParleyError } from '../../src/domain/errors.js';
import { mergeJson } from '../../src/domain/merge.js';
import { reconcile } from '../../src/domain/reconciliation.js';
import { by, votesFor } from './votes.js';

const exact = by('exact');
type Answers = (Json | [Json, Partial<Vote>])[];
const ids = (lanes: { lane_id: string }[]): string => lanes.map((lane) => lane.lane_id).join('');

describe('reconciliation', () => {
  test.each(['first_win', 'consensus', 'weighted_merge'] as const)(
    'by %s of nothing is an error naming it',
    (policy) => {
      for (const answers of [[], ['', null, ' ']]) {
        expect(() => reconcile(policy, votesFor(answers), exact)).toThrow(
          `nothing to reconcile by ${policy}: no lane has answered; it needs at least one`,
        );
      }
    },
  );
  test('by a policy that does not exist names it and those that do', () => {
    const act = () => reconcile('first-win' as Reconciliation, votesFor(['x']), exact);
    expect(act).toThrow(ParleyError);
    expect(act).toThrow('reconciliation "first-win" does not exist; choose first_win, consensus, weighted_merge');
  });
  test.each(['first_win', 'consensus', 'weighted_merge'] as const)('by %s uses finals alone', (policy) => {
    const partial: Partial<Vote> = { final: false, weight: 9 };
    const result = reconcile(policy, votesFor([['y', partial], 'x', ['y', partial]]), exact);
    expect(result).toMatchObject({
      answer: 'x',
      partial: false,
      totalWeight: 1,
      forLanes: [{ lane_id: 'b', weight: 1 }],
    });
    expect(result.against).toEqual([]);
  });
  test.each(['first_win', 'consensus', 'weighted_merge'] as const)(
    'by %s uses partials where none is final',
    (policy) => {
      const result = reconcile(
        policy,
        votesFor([
          ['x', { final: false }],
          ['X', { final: false }],
        ]),
        exact,
      );
      expect(result).toMatchObject({ answer: 'x', partial: true, totalWeight: 2 });
    },
  );
});

describe('first_win', () => {
  test.each<[string, Answers, string]>([
    [
      'the smallest time, not the first in the list',
      [
        ['x', { endedAt: 9 }],
        ['y', { endedAt: 3 }],
        ['x', { endedAt: 5 }],
      ],
      'b',
    ],
    [
      'the smallest time, whatever its weight and tier',
      [
        ['x', { endedAt: 9, weight: 9, tier: 'gold' }],
        ['y', { endedAt: 3, tier: 'bronze' }],
      ],
      'b',
    ],
    ['the higher tier at the same time', ['x', ['y', { tier: 'gold' }]], 'b'],
    ['lane order at the same time and tier', ['x', 'y'], 'a'],
  ])('takes %s', (_, answers, laneId) => {
    expect(reconcile('first_win', votesFor(answers), exact).representative).toBe(laneId);
  });
  test('names those who agree with the winner, and the others', () => {
    const result = reconcile('first_win', votesFor(['x', ['y', { endedAt: 1 }], 'x', 'Y.']), exact);
    expect(result.answer).toBe('y');
    expect(ids(result.forLanes)).toBe('bd');
    expect(ids(result.against)).toBe('ac');
    expect(result.texts).toBeNull();
  });
});

describe('consensus', () => {
  test('takes the answer that stands for the heaviest group', () => {
    const result = reconcile(
      'consensus',
      votesFor(['red', ['Blue', { weight: 2 }], ['blue', { tier: 'gold' }]]),
      exact,
    );
    expect(result).toEqual({
      answer: 'blue',
      representative: 'c',
      forLanes: [
        { lane_id: 'b', weight: 2 },
        { lane_id: 'c', weight: 1 },
      ],
      against: [{ lane_id: 'a', weight: 1 }],
      totalWeight: 4,
      partial: false,
      texts: null,
    });
  });
  test.each<[string, Answers, string]>([
    ['higher tier', ['x', ['y', { tier: 'gold' }]], 'b'],
    ['earlier FINAL', ['x', ['y', { endedAt: 9 }]], 'b'],
    ['lane order', ['x', 'y'], 'a'],
  ])('settles a tie by %s', (_, answers, laneId) => {
    expect(reconcile('consensus', votesFor(answers), exact).representative).toBe(laneId);
  });
  test('takes JSON answers whole', () => {
    expect(reconcile('consensus', votesFor([{ a: 1 }, { a: 1 }, { a: 2 }]), by('similarity')).answer).toEqual({ a: 1 });
  });
  test('goes by the partition it is given', () => {
    const result = reconcile('consensus', votesFor(['x', 'y', 'z']), by('judge'), [['b', 'c'], ['a']]);
    expect(ids(result.forLanes)).toBe('bc');
  });
});

describe('weighted_merge of JSON', () => {
  test.each<[string, Answers, Json]>([
    ['a vote for strings', [{ a: 'x' }, { a: 'y' }, { a: 'y' }], { a: 'y' }],
    ['a weighted vote', [[{ a: 'x' }, { weight: 3 }], { a: 'y' }, { a: 'y' }], { a: 'x' }],
    ['one spelling of a string', [{ a: 'Blue.' }, { a: 'blue' }, { a: 'red' }], { a: 'Blue.' }],
    ['a vote for booleans', [{ a: true }, { a: false }, { a: false }], { a: false }],
    ['a vote with null', [{ a: null }, { a: null }, { a: 'x' }], { a: null }],
    ['the higher tier on a tie', [{ a: 'x' }, [{ a: 'y' }, { tier: 'gold' }]], { a: 'y' }],
    ['the earlier FINAL on a tie', [{ a: 'x' }, [{ a: 'y' }, { endedAt: 1 }]], { a: 'y' }],
    ['lane order on a tie', [{ a: 'x' }, { a: 'y' }], { a: 'x' }],
    ['the mean of numbers', [{ a: 1 }, { a: 2 }], { a: 1.5 }],
    ['the weighted mean', [[{ a: 1 }, { weight: 3 }], { a: 5 }], { a: 2 }],
    ['a mean without rounding dust', [{ a: 0.1 }, { a: 0.2 }], { a: 0.15 }],
    ['a mean of very large numbers', [{ a: 1e308 }, { a: 1e308 }], { a: 1e308 }],
    ['a union of lists', [{ a: ['x', 'y'] }, { a: ['z', 'y'] }], { a: ['y', 'x', 'z'] }],
    ['a union by weight', [{ a: ['x'] }, [{ a: ['y'] }, { weight: 2 }]], { a: ['y', 'x'] }],
    [
      'a union with the heavier lane first on a tie',
      [{ a: ['y'] }, [{ a: ['x'] }, { weight: 2 }], { a: ['y'] }],
      { a: ['x', 'y'] },
    ],
    ['a union that counts a lane once', [{ a: ['x', 'x', 'x'] }, { a: ['y'] }, { a: ['y'] }], { a: ['y', 'x'] }],
    ['a union of equal objects', [{ a: [{ p: 1, q: 2 }] }, { a: [{ q: 2, p: 1 }] }], { a: [{ p: 1, q: 2 }] }],
    ['a field of some lanes only', [{ a: 1, b: 4 }, { a: 3 }], { a: 2, b: 4 }],
    ['objects within objects', [{ o: { n: 1, s: 'x' } }, { o: { n: 3, s: 'x' } }], { o: { n: 2, s: 'x' } }],
    ['the heavier kind where kinds differ', [{ a: 4 }, { a: 'none' }, { a: 6 }], { a: 5 }],
    [
      'lists at the top',
      [
        [1, 2],
        [2, 3],
      ],
      [2, 1, 3],
    ],
    ['numbers at the top', [4, 8], 6],
    ['JSON in strings', ['{"a":1}', '```json\n{"a":3}\n```', { a: 5 }], { a: 3 }],
    ['a field called __proto__', [JSON.parse('{"__proto__":1}') as Json], JSON.parse('{"__proto__":1}') as Json],
  ])('takes %s', (_, answers, merged) => {
    const result = reconcile('weighted_merge', votesFor(answers), exact);
    expect(JSON.stringify(result.answer)).toBe(JSON.stringify(merged));
    expect(result).toMatchObject({ representative: null, against: [], texts: null });
  });
  test('lists every lane by descending weight, then lane order', () => {
    const result = reconcile('weighted_merge', votesFor([{ a: 1 }, [{ a: 1 }, { weight: 2 }], { a: 1 }]), exact);
    expect(ids(result.forLanes)).toBe('bac');
    expect(result.totalWeight).toBe(4);
  });
  test('does not depend on the order of the lanes, but for ties', () => {
    const votes = votesFor([
      [{ n: 1, s: 'x', l: [1, 2] }, { weight: 2 }],
      [{ n: 2, s: 'y', l: [2, 3] }, { weight: 3 }],
      [{ n: 9, s: 'x', l: [3] }, { weight: 1.5 }],
    ]);
    const merged = mergeJson(votes);
    expect(mergeJson(votes.toReversed())).toEqual(merged);
    expect(merged).toEqual({ n: expect.closeTo(21.5 / 6.5, 12), s: 'x', l: [2, 3, 1] });
  });
});

describe('weighted_merge of texts', () => {
  const votes = votesFor(['one', ['two', { weight: 3 }], 'One.', { a: 1 }]);
  test('joins them by descending weight, each under its sources, equal ones once', () => {
    expect(reconcile('weighted_merge', votes, exact).answer).toBe(
      '[b, weight 3]\ntwo\n\n[a, weight 1; c, weight 1]\none\n\n[d, weight 1]\n{"a":1}',
    );
  });
  test('hands every text to whoever merges', () => {
    expect(reconcile('weighted_merge', votes, exact).texts).toEqual([
      { laneId: 'b', weight: 3, text: 'two' },
      { laneId: 'a', weight: 1, text: 'one' },
      { laneId: 'c', weight: 1, text: 'One.' },
      { laneId: 'd', weight: 1, text: '{"a":1}' },
    ]);
  });
  test('marks nothing where all say the same', () => {
    expect(reconcile('weighted_merge', votesFor(['one', 'One']), exact).answer).toBe('one');
  });
});
