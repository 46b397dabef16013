import type { Json } from '../../src/contracts/frames.js';
import type { AgreementPolicy, Tier } from '../../src/contracts/session.js';
import { agreementOf, isDecided, type Vote } from '../../src/domain/agreement.js';
import { reconcile } from '../../src/domain/reconciliation.js';
import { answerText, normalise, tokenSet } from '../../src/domain/text.js';
import { by, votesFor } from './votes.js';

const lanesOf = (votes: Vote[], policy: AgreementPolicy, partition?: string[][]): string[] =>
  agreementOf(votes, policy, partition).groups.map((group) => group.lanes.join(''));

describe('agreement', () => {
  test.each<[string, (Json | [Json, Partial<Vote>])[], number]>([
    ['no answer', [], 0],
    ['one answer alone', ['blue'], 1],
    ['one answer of three', ['blue', '', ' '], 1],
    ['two that differ', ['blue', 'red'], 0.5],
    ['two of three', ['Blue.', 'red', ' blue'], 2 / 3],
    ['weights', [['blue', { weight: 3 }], 'red', 'green'], 0.6],
    ['tentative votes too', [['blue', { final: false }], 'blue'], 1],
    [
      'JSON, whatever the order of its members',
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      1,
    ],
  ])('of %s is the share of the leading weight', (_, answers, value) => {
    for (const method of ['exact', 'similarity', 'judge'] as const) {
      expect(agreementOf(votesFor(answers), by(method)).value).toBeCloseTo(value, 12);
    }
  });

  test('without answers has no leader', () => {
    expect(agreementOf([], by('exact'))).toEqual({ value: 0, groups: [], total: 0, leader: null });
  });
  test('names lanes in vote order, weight, finalised weight and who stands for the group', () => {
    const votes = votesFor([['blue', { final: false, tier: 'gold' }], 'red', ['Blue', { weight: 2 }], 'blue.']);
    expect(agreementOf(votes, by('exact'))).toEqual({
      value: 0.8,
      total: 5,
      leader: { lanes: ['a', 'c', 'd'], weight: 4, representative: 'c', finalWeight: 3 },
      groups: [
        { lanes: ['a', 'c', 'd'], weight: 4, representative: 'c', finalWeight: 3 },
        { lanes: ['b'], weight: 1, representative: 'b', finalWeight: 1 },
      ],
    });
  });
  test('changes none of its votes', () => {
    const votes = Object.freeze(votesFor(['a b', 'c', 'a b c']).map((vote) => Object.freeze(vote)));
    for (const method of ['exact', 'similarity', 'judge'] as const) agreementOf(votes, by(method));
  });

  describe.each(['exact', 'similarity'] as const)('ties by %s', (method) => {
    test.each<[string, (Json | [Json, Partial<Vote>])[], string[]]>([
      ['the heavier group', ['x', 'y', 'y'], ['bc', 'a']],
      ['the higher tier', ['x', ['y', { tier: 'gold' }]], ['b', 'a']],
      ['the higher tier of any member', ['x', 'x', 'y', ['y', { tier: 'gold' }]], ['cd', 'ab']],
      [
        'then the earlier FINAL',
        [
          ['x', { endedAt: 9 }],
          ['y', { endedAt: 8 }],
        ],
        ['b', 'a'],
      ],
      [
        'a FINAL before none',
        [
          ['x', { final: false }],
          ['y', { endedAt: 8 }],
        ],
        ['b', 'a'],
      ],
      ['then lane order', ['x', 'y'], ['a', 'b']],
      [
        'tier before FINAL',
        [
          ['x', { endedAt: 1, tier: 'bronze' }],
          ['y', { endedAt: 9 }],
        ],
        ['b', 'a'],
      ],
      [
        'weight before tier, and 0.1 + 0.2 weighs as much as 0.3',
        [
          ['x', { weight: 0.3 }],
          ['y', { weight: 0.1, tier: 'gold' }],
          ['y', { weight: 0.2 }],
        ],
        ['bc', 'a'],
      ],
    ])('are led by %s', (_, answers, groups) => {
      expect(lanesOf(votesFor(answers), by(method))).toEqual(groups);
    });
    test.each<[string, (Json | [Json, Partial<Vote>])[], string]>([
      [
        'a final before a partial',
        [
          ['x', { final: false, tier: 'gold' }],
          ['x', { tier: 'bronze' }],
        ],
        'b',
      ],
      ['the higher tier', ['x', ['X', { tier: 'gold' }]], 'b'],
      [
        'the earlier FINAL',
        [
          ['x', { endedAt: 9 }],
          ['X', { endedAt: 8 }],
        ],
        'b',
      ],
      ['lane order', ['x', 'X'], 'a'],
    ])('within a group are settled by %s', (_, answers, representative) => {
      expect(agreementOf(votesFor(answers), by(method)).leader?.representative).toBe(representative);
    });
  });
});

describe('agreement by choice', () => {
  const policy = by('choice', { choice: { schema: { type: 'number' } } });
  test('puts numbers within 1e-9 together, however they are said', () => {
    expect(lanesOf(votesFor(['it is 0.3', 0.1 + 0.2, '0.30', '0.31']), policy)).toEqual(['abc', 'd']);
  });
  test('keeps an answer without a choice in the denominator, agreeing with nobody', () => {
    const votes = votesFor(['5', 'no idea', 'no idea', '5']);
    expect(lanesOf(votes, policy)).toEqual(['ad', 'b', 'c']);
    expect(agreementOf(votes, policy).value).toBe(0.5);
  });
});

describe('agreement by similarity', () => {
  const within = (similarity_threshold: number) => by('similarity', { similarity_threshold });
  test('includes what is exactly at the threshold', () => {
    const votes = votesFor(['a b c d e', 'a b c d']);
    expect(lanesOf(votes, within(0.8))).toEqual(['ab']);
    expect(lanesOf(votes, within(0.81))).toEqual(['a', 'b']);
  });
  test('does not chain: what is far from the centre stays out', () => {
    // a ~ b ~ c ~ d at 0.5 and more, but a and d share nothing.
    const votes = votesFor(['p q', 'p q r', 'q r s', 'r s']);
    expect(lanesOf(votes, within(0.5))).toEqual(['abc', 'd']);
  });
  test('takes the heaviest ball first and looks at the rest anew', () => {
    const votes = votesFor([['p', { weight: 5 }], 'x y', 'x y z', 'q']);
    expect(lanesOf(votes, within(0.6))).toEqual(['a', 'bc', 'd']);
  });
  test('takes the tighter of two equally heavy balls', () => {
    // A chain b ~ a ~ c ~ d: around a lie b and c, around c lie a and the nearer d.
    expect(lanesOf(votesFor(['p q r', 'p q', 'q r s', 'q r s t']), within(0.5))).toEqual(['acd', 'b']);
  });
  test('is stood for by the weighted medoid', () => {
    const texts = ['a b c', 'a b c d', 'a b c d e'];
    expect(agreementOf(votesFor(texts), within(0.5)).leader?.representative).toBe('b');
    const heavy = votesFor([texts[0]!, texts[1]!, [texts[2]!, { weight: 5 }]]);
    expect(agreementOf(heavy, within(0.5)).leader?.representative).toBe('c');
  });
  test('takes its medoid from the finals, near to partials too', () => {
    const votes = votesFor([['a b c d', { final: false }], 'a b c', ['a b c d', { final: false }], 'a b c d e']);
    expect(['b', 'd']).toContain(agreementOf(votes, within(0.5)).leader?.representative);
  });
  test('is never stricter than exact', () => {
    const texts = ['Blue.', 'blue', 'the sky', 'The  sky!', 'sky the', 'x'];
    const votes = votesFor(texts);
    expect(agreementOf(votes, within(1)).groups.length).toBeLessThanOrEqual(
      agreementOf(votes, by('exact')).groups.length,
    );
  });
  test('does not depend on the order of votes, but for ties', () => {
    const votes = votesFor([['a b c', { weight: 2 }], 'a b', 'x y z', ['x y', { weight: 4 }], 'q']);
    const expected = agreementOf(votes, within(0.6));
    const names = (groups: { lanes: string[] }[]) => groups.map(({ lanes }) => [...lanes].sort().join(''));
    const reversed = agreementOf(votes.toReversed(), within(0.6));
    expect(names(reversed.groups)).toEqual(names(expected.groups));
    expect(reversed.value).toBe(expected.value);
  });
  test('of a hundred lanes puts each in exactly one group', () => {
    const votes = votesFor(Array.from({ length: 100 }, (_, index) => `w${index % 7} w${index % 5} w${index % 3}`)).map(
      (vote, order) => ({ ...vote, laneId: `lane${order}` }),
    );
    const { groups, total } = agreementOf(votes, within(0.5));
    expect(groups.flatMap(({ lanes }) => lanes).sort()).toEqual(votes.map(({ laneId }) => laneId).sort());
    expect(groups.reduce((sum, { weight }) => sum + weight, 0)).toBe(total);
  });
});

describe('agreement by a scorer from outside', () => {
  test.each<[string, string[][] | undefined, string[]]>([
    [
      'takes its partition',
      [
        ['a', 'c'],
        ['b', 'd'],
      ],
      ['ac', 'bd'],
    ],
    ['lets lanes it does not name stand alone', [['a', 'b']], ['ab', 'c', 'd']],
    ['ignores lanes that have not answered', [['x', 'a'], ['y']], ['a', 'b', 'c', 'd']],
    [
      'counts a lane once',
      [
        ['a', 'b'],
        ['b', 'c', 'd'],
      ],
      ['ab', 'cd'],
    ],
    ['goes by equal texts without one', undefined, ['a', 'b', 'c', 'd']],
  ])('%s', (_, partition, groups) => {
    expect(lanesOf(votesFor(['w', 'x', 'y', 'z']), by('judge'), partition)).toEqual(groups);
  });
  test('puts a lane it does not name beside one that says the same', () => {
    expect(lanesOf(votesFor(['w', 'x', 'W.']), by('judge'), [['a', 'b']])).toEqual(['abc']);
  });
  test('replaces any method', () => {
    expect(lanesOf(votesFor(['w', 'x']), by('exact'), [['a', 'b']])).toEqual(['ab']);
  });
  test('is stood for by the medoid of the texts', () => {
    const votes = votesFor(['p', 'a b', 'a b c']);
    expect(agreementOf(votes, by('judge'), [['a', 'b', 'c']]).leader?.representative).toBe('b');
  });
});

describe('decided', () => {
  const facts = { policy: by('exact'), reconciliation: 'consensus', threshold: 0.6 } as const;
  test.each<[string, (Json | [Json, Partial<Vote>])[], number, boolean]>([
    ['three against two running', ['x', 'x', 'x'], 2, true],
    ['two against two running', ['x', 'x'], 2, false],
    ['three against one other and one running', ['x', 'x', 'x', 'y'], 1, true],
    ['more, but not enough for the threshold', ['x', 'x', 'x', 'y', 'z'], 0.9, false],
    ['exactly the threshold', ['x', 'x', 'x', 'y'], 1, true],
    [
      'partials, which count as running',
      [
        ['x', { final: false }],
        ['x', { final: false }],
      ],
      1,
      false,
    ],
    ['nothing', [], 3, false],
  ])('with %s', (_, answers, runningWeight, decided) => {
    expect(isDecided({ ...facts, votes: votesFor(answers), runningWeight })).toBe(decided);
  });
  test('needs strictly more than all the rest', () => {
    const votes = votesFor([['x', { weight: 0.3 }]]);
    expect(isDecided({ ...facts, threshold: 0.5, votes, runningWeight: 0.1 + 0.2 })).toBe(false);
    expect(isDecided({ ...facts, threshold: 0.5, votes, runningWeight: 0.29 })).toBe(true);
  });
  test('by similarity counts only the leading text, not its neighbours', () => {
    const policy = by('similarity', { similarity_threshold: 0.5 });
    expect(isDecided({ ...facts, policy, votes: votesFor(['a b', 'a b', 'a b c']), runningWeight: 1 })).toBe(false);
    expect(isDecided({ ...facts, policy, votes: votesFor(['a b', 'a b', 'a b']), runningWeight: 1 })).toBe(true);
  });
  test('by choice counts all that choose the same', () => {
    const policy = by('choice', { choice: { schema: { type: 'number' } } });
    expect(isDecided({ ...facts, policy, votes: votesFor(['5', 'five is 5', 5]), runningWeight: 2 })).toBe(true);
  });
  test.each([
    [1, 0.5, true],
    [1, 0.6, false],
  ])(
    'by first_win needs one final, and with %i running agreement of at least %d',
    (runningWeight, threshold, decided) => {
      const reconciliation = 'first_win' as const;
      expect(isDecided({ ...facts, reconciliation, threshold, votes: votesFor(['x']), runningWeight })).toBe(decided);
      expect(isDecided({ ...facts, reconciliation, threshold, votes: [], runningWeight })).toBe(false);
    },
  );
  test('is never so for a merge or a judge', () => {
    const votes = votesFor(['x', 'x', 'x', 'x']);
    expect(isDecided({ ...facts, reconciliation: 'weighted_merge', votes, runningWeight: 0.1 })).toBe(false);
    expect(isDecided({ ...facts, policy: by('judge'), votes, runningWeight: 0.1 })).toBe(false);
  });

  // Every outcome of small cases: where it says decided, nothing that the running lanes do changes the answer, though
  // they are gold and win every tie.
  const alphabet = ['a b c', 'a b', 'a b d', 'x', 'c b a'];
  const outcomes = [...alphabet, null];
  const weights: Record<number, number[][]> = {
    1: [[1], [2]],
    2: [
      [1, 1],
      [1, 2],
    ],
    3: [
      [1, 1, 1],
      [1, 1, 2],
      [2, 1, 1],
    ],
  };
  const product = <T>(sets: readonly (readonly T[])[]): T[][] =>
    sets.reduce<T[][]>((all, set) => all.flatMap((head) => set.map((item) => [...head, item])), [[]]);
  const lanes = (answers: readonly (string | null)[], weight: readonly number[], from: number, tier: Tier): Vote[] =>
    answers.flatMap((answer, index) =>
      answer === null
        ? []
        : [
            {
              laneId: `lane${from + index}`,
              order: from + index,
              weight: weight[index]!,
              tier,
              answer,
              final: true,
              endedAt: from + index,
            },
          ],
    );
  const sameAnswer = (policy: AgreementPolicy, one: Json, other: Json): boolean => {
    const [a, b] = [answerText(one), answerText(other)];
    if (policy.method !== 'similarity') return normalise(a) === normalise(b);
    return [...tokenSet(a)].sort().join(' ') === [...tokenSet(b)].sort().join(' ');
  };
  test.each([
    ['exact', by('exact')],
    ['similarity 0.85', by('similarity')],
    ['similarity 0.5', by('similarity', { similarity_threshold: 0.5 })],
  ])('by %s means that no outcome changes the answer or brings agreement below the threshold', (_, policy) => {
    let decided = 0;
    for (const reconciliation of ['consensus', 'first_win'] as const) {
      for (const finals of [1, 2, 3]) {
        for (const answers of product(Array.from({ length: finals }, () => alphabet))) {
          for (const weight of weights[finals]!) {
            for (const running of [[1], [2], [1, 1]]) {
              const votes = lanes(answers, weight, 0, 'bronze');
              const runningWeight = running.reduce((sum, each) => sum + each, 0);
              if (!isDecided({ votes, runningWeight, policy, reconciliation, threshold: 0.6 })) continue;
              decided += 1;
              const now = reconcile(reconciliation, votes, policy);
              for (const outcome of product(running.map(() => outcomes))) {
                const all = [...votes, ...lanes(outcome, running, finals, 'gold')];
                const then = reconcile(reconciliation, all, policy);
                if (!sameAnswer(policy, now.answer, then.answer) || agreementOf(all, policy).value < 0.6 - 1e-9) {
                  throw new Error(`${JSON.stringify({ answers, weight, running, outcome, reconciliation })}`);
                }
              }
            }
          }
        }
      }
    }
    expect(decided).toBeGreaterThan(100);
  });
  test('by exact is never said too late: else some outcome does change the answer or spoils the agreement', () => {
    const policy = by('exact');
    let open = 0;
    for (const answers of product([alphabet, alphabet, alphabet])) {
      for (const running of [[1], [2], [1, 1]]) {
        const votes = lanes(answers, [1, 1, 1], 0, 'bronze');
        const runningWeight = running.reduce((sum, each) => sum + each, 0);
        if (isDecided({ votes, runningWeight, policy, reconciliation: 'consensus', threshold: 0.6 })) continue;
        open += 1;
        const now = reconcile('consensus', votes, policy);
        const changes = product(running.map(() => [...outcomes, 'new'])).some((outcome) => {
          const all = [...votes, ...lanes(outcome, running, 3, 'gold')];
          const then = reconcile('consensus', all, policy);
          return !sameAnswer(policy, now.answer, then.answer) || agreementOf(all, policy).value < 0.6 - 1e-9;
        });
        expect(changes).toBe(true);
      }
    }
    expect(open).toBeGreaterThan(10);
  });
});
