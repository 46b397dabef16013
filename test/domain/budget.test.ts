import type { Reconciliation, Tier } from '../../src/contracts/session.js';
import {
  add,
  approximateTokens,
  available,
  type Books,
  budgetFaults,
  type BudgetLimits,
  guardBanded,
  micros,
  noAmount,
  shouldFlush,
  subtract,
  usd,
} from '../../src/domain/budget.js';
import type { Amount } from '../../src/domain/session/setup.js';
import { admissionOrder, preemptionOrder } from '../../src/domain/tier.js';

const amount = (tokens: number, usdMicros = 0): Amount => ({ tokens, usdMicros });

describe('money', () => {
  test.each([
    [0, '0'],
    [1, '0.000001'],
    [100, '0.0001'],
    [500_000, '0.5'],
    [1_000_000, '1'],
    [10_000_000, '10'],
    [12_345_678, '12.345678'],
    [1_000_000_000_000, '1000000'],
    [-100, '-0.0001'],
    [0.4, '0'],
    [-0.4, '0'],
  ])('of %d millionths is "%s"', (usdMicros, text) => {
    expect(usd(usdMicros)).toBe(text);
  });
  test.each([
    [0, 0],
    [0.5, 500_000],
    [0.1, 100_000],
    [0.000_001, 1],
    [0.29, 290_000],
    [1_000_000, 1_000_000_000_000],
  ])('of %d dollars is %i millionths', (dollars, whole) => {
    expect(micros(dollars)).toBe(whole);
    expect(Number(usd(whole))).toBe(dollars);
  });
  test('adds up, and subtracts down to nothing', () => {
    expect(add(amount(1, 2), amount(3, 4))).toEqual(amount(4, 6));
    expect(subtract(amount(5, 1), amount(3, 4))).toEqual(amount(2, 0));
  });
});

describe('estimates', () => {
  test.each([
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
  ])('of %j are %i tokens', (text, tokens) => {
    expect(approximateTokens(text)).toBe(tokens);
  });
  test.each<[Tier, number]>([
    ['gold', 140],
    ['silver', 120],
    ['bronze', 110],
  ])('for %s are guarded up to %i', (tier, expected) => {
    expect(guardBanded({ mean: 100, variance: 400 }, tier)).toBe(expected);
  });
  test.each([
    [{ mean: 100.1, variance: 0 }, 101],
    [{ mean: 0.1 + 0.2 + 0.7, variance: 0 }, 1],
    [{ mean: 0, variance: 0 }, 0],
    [{ mean: 0, variance: 2 }, 2],
  ])('of %j are rounded up to %i', (prior, expected) => {
    expect(guardBanded(prior, 'silver')).toBe(expected);
  });
});

describe('what is left of a budget', () => {
  const limits = { maxTokens: 1000, maxUsdMicros: 500 };
  const booksOf = (of: BudgetLimits, reserved = noAmount, spent = noAmount): Books => ({ limits: of, reserved, spent });

  test('admits what reaches its limit exactly', () => {
    expect(budgetFaults(booksOf(limits, amount(400, 200), amount(100, 100)), amount(500, 200))).toEqual([]);
  });
  test('refuses one unit more, naming every limit', () => {
    expect(budgetFaults(booksOf(limits, amount(400, 200), amount(100, 100)), amount(501, 201))).toEqual([
      { code: 'EBUDGET', message: 'needs 501 tokens; 500 of max_tokens 1000 are left' },
      { code: 'EBUDGET', message: 'needs 0.000201 USD; 0.0002 of max_usd 0.0005 are left' },
    ]);
  });
  test('without limits refuses nothing', () => {
    const open = booksOf({ maxTokens: null, maxUsdMicros: null });
    expect(budgetFaults(open, amount(1e12, 1e12))).toEqual([]);
    expect(available(open)).toEqual({ tokens: null, usdMicros: null });
  });
  test('limits each of tokens and money alone', () => {
    expect(budgetFaults(booksOf({ maxTokens: null, maxUsdMicros: 1 }), amount(9, 2))).toHaveLength(1);
    expect(budgetFaults(booksOf({ maxTokens: 1, maxUsdMicros: null }), amount(9, 2))).toHaveLength(1);
  });
  test('with a limit of 0 admits only what is free', () => {
    const none = booksOf({ maxTokens: 0, maxUsdMicros: 0 });
    expect(budgetFaults(none, amount(0, 0))).toEqual([]);
    expect(budgetFaults(none, amount(1, 1))).toHaveLength(2);
  });
  test('shows an overrun as nothing left, never as less', () => {
    expect(available(booksOf(limits, noAmount, amount(1200)))).toEqual({ tokens: 0, usdMicros: 500 });
  });
});

describe('lanes', () => {
  const lanes = [
    { id: 's1', tier: 'silver', startedAt: 5 },
    { id: 'b1', tier: 'bronze', startedAt: 9 },
    { id: 'g1', tier: 'gold', startedAt: 1 },
    { id: 'b2', tier: 'bronze', startedAt: 2 },
    { id: 's2', tier: 'silver', startedAt: 3 },
    { id: 'b3', tier: 'bronze', startedAt: 2 },
    { id: 'g2', tier: 'gold', startedAt: 0 },
  ] as const;
  test('are admitted gold, silver, bronze, in order of arrival within a tier', () => {
    expect(admissionOrder(lanes).map(({ id }) => id)).toEqual(['g1', 'g2', 's1', 's2', 'b1', 'b2', 'b3']);
  });
  test('are preempted bronze oldest first, then silver oldest first, never gold', () => {
    expect(preemptionOrder(lanes).map(({ id }) => id)).toEqual(['b2', 'b3', 'b1', 's2', 's1']);
  });
});

describe('partial text under backpressure', () => {
  test.each<[Reconciliation, number, boolean, boolean]>([
    ['first_win', 204, true, false],
    ['first_win', 205, false, true],
    ['weighted_merge', 179, true, false],
    ['weighted_merge', 180, false, true],
    ['consensus', 153, true, false],
    ['consensus', 154, true, true],
    ['consensus', 256, false, false],
  ])(
    'by %s with %i of 256 characters and a majority %s is handed on: %s',
    (policy, bufferedChars, hasMajority, flushes) => {
      expect(shouldFlush({ policy, bufferedChars, limitChars: 256, hasMajority, arbiterSpentShare: 0 })).toBe(flushes);
    },
  );
  test.each([
    ['first_win', 80],
    ['weighted_merge', 70],
    ['consensus', 60],
  ] as const)('by %s is not handed on at exactly %i percent', (policy, percent) => {
    const facts = { policy, limitChars: 100, hasMajority: true, arbiterSpentShare: 0 };
    expect(shouldFlush({ ...facts, bufferedChars: percent })).toBe(false);
    expect(shouldFlush({ ...facts, bufferedChars: percent + 1 })).toBe(true);
  });
  test.each([
    [0.8, false],
    [0.81, true],
  ])('by the arbiter with %d of its money spent is handed on: %s', (arbiterSpentShare, flushes) => {
    const facts = { policy: 'arbiter', bufferedChars: 256, limitChars: 256, hasMajority: false } as const;
    expect(shouldFlush({ ...facts, arbiterSpentShare })).toBe(flushes);
  });
});
