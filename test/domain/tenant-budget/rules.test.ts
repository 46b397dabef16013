import { tenantBudgetSchema } from '../../../src/contracts/tenant-budget.js';
import { periodAt } from '../../../src/domain/tenant-budget/period.js';
import { areBudgetSettings, isBudgetSaid } from '../../../src/domain/tenant-budget/said.js';
import { leaseOf } from '../../../src/domain/tenant-budget/settings.js';
import { isForgettable, untouchedBudget } from '../../../src/domain/tenant-budget/view.js';
import { amount } from '../../support/ledger-play.js';
import { BudgetPlay, budgetSettings } from '../../support/tenant-budget-play.js';

const day = 86_400_000;
const usualLeaseMs = leaseOf(budgetSettings());

describe('the budget of a tenant', () => {
  test('is shared by the calls of all workers, and refuses the next once it is used up', () => {
    const play = new BudgetPlay().want('a', 1, 60).want('b', 1, 40).end('a', 1, 60).end('b', 1, 40).want('b', 2, 1);
    expect(play.words).toEqual(['+a/1', '+b/1', '-b/2']);
    expect(play.refused[0]?.message).toBe(
      'the budget of tenant acme for 2026-11-22 (UTC): needs 1 tokens; 0 of max_tokens 100 are left. An operator can give it ' +
        'more: parley budget acme --max-usd or --max-tokens, or POST /v1/budgets/acme',
    );
    expect(tenantBudgetSchema.parse(play.view)).toMatchObject({
      spent: { tokens: 100, usd: '0' },
      left: { tokens: 0, usd: null },
      since: '2026-11-22T00:00:00.000Z',
      until: '2026-11-23T00:00:00.000Z',
    });
    expect(play.view.steps.map(({ step }) => step)).toEqual(['warn', 'stop']);
  });

  test('lets a call wait for one that may pass the limit, and gives back what was not used', () => {
    const play = new BudgetPlay().want('a', 1, 90).want('b', 1, 30).want('b', 2, 30);
    expect(play.words).toEqual(['+a/1', '+b/1']);
    expect(play.view.calls).toEqual({ under_way: 2, waiting: 1 });
    play.end('b', 1, 5).end('a', 1, 10);
    expect(play.words).toEqual(['+a/1', '+b/1', '+b/2']);
  });

  test('is not stepped by the same words twice', () => {
    const play = new BudgetPlay().want('a', 1, 30).want('a', 1, 30).end('a', 1, 20);
    const before = play.state;
    play.end('a', 1, 99);
    expect(play.state).toEqual(before);
    expect(play.words).toEqual(['+a/1', '+a/1']);
    play.want('a', 1, 30);
    expect(play.refused).toEqual([{ worker: 'a', number: 1, message: null }]);
  });

  test('spends what a worker held that is never heard of again, and nothing of one that names its calls', () => {
    const play = new BudgetPlay().want('a', 1, 30).want('b', 1, 20);
    play.now += usualLeaseMs / 2;
    play.hear({ type: 'alive', worker: 'b', numbers: [1] });
    expect(play.nextAt).toBe(play.now + usualLeaseMs / 2);
    play.after(usualLeaseMs / 2);
    expect(play.view).toMatchObject({ spent: { tokens: 30 }, held: { tokens: 20 } });
    play.end('a', 1, 3);
    expect(play.view.spent.tokens).toBe(30);
  });

  test('keeps to the lease of its operator: what waits goes on when that of who held it is over', () => {
    const play = new BudgetPlay(budgetSettings({ leaseMs: 3_000 })).want('a', 1, 101).want('b', 1, 101);
    expect([play.nextAt, play.view.calls]).toEqual([play.now + 3_000, { under_way: 1, waiting: 1 }]);
    play.now += 2_000;
    play.hear({ type: 'alive', worker: 'b', numbers: [1] }).after(1_000);
    expect([play.words, play.view.spent.tokens]).toEqual([['+a/1', '-b/1'], 101]);
  });

  test('forgets what a dead worker waited for', () => {
    const play = new BudgetPlay().want('a', 1, 101).want('b', 1, 10, { isCapped: false });
    expect(play.view.calls.waiting).toBe(1);
    play.hear({ type: 'alive', worker: 'a', numbers: [1] }).after(usualLeaseMs);
    expect(play.view.calls).toEqual({ under_way: 0, waiting: 0 });
  });

  test.each([
    ['day', Date.UTC(2026, 10, 23)],
    ['month', Date.UTC(2026, 11, 1)],
  ] as const)('of a %s begins anew; a call counts in the period in which it was admitted', (period, next) => {
    const play = new BudgetPlay(budgetSettings({ period })).want('a', 1, 70).want('a', 2, 30).end('a', 1, 70);
    expect(play.nextAt).toBeLessThanOrEqual(next);
    play.now = next;
    play.hear({ type: 'alive', worker: 'a', numbers: [2] }).want('b', 1, 100);
    expect(play.words.at(-1)).toBe('+b/1');
    expect(play.view).toMatchObject({
      spent: { tokens: 0 },
      before: { spent: { tokens: 70 } },
      calls: { under_way: 2 },
    });
    // Its worker did not hear of it, and asks again: it is held once.
    play.want('a', 2, 30);
    expect(play.granted.at(-1)).toMatchObject({ number: 2, since: play.granted[0]?.since });
    expect(play.view.held.tokens).toBe(100);
    play.end('a', 2, 25).end('a', 2, 25);
    expect(play.view).toMatchObject({ spent: { tokens: 0 }, held: { tokens: 100 }, before: { spent: { tokens: 95 } } });
  });

  test('for ever never begins anew, and is remembered; one of a day is forgotten once that is over', () => {
    const [ever, daily] = (['ever', 'day'] as const).map((period) =>
      new BudgetPlay(budgetSettings({ period }))
        .want('a', 1, 5)
        .end('a', 1, 5)
        .after(40 * day),
    );
    expect(isForgettable(ever!.state)).toBe(false);
    expect(ever!.view.spent.tokens).toBe(5);
    expect(ever!.nextAt).toBeNull();
    expect(isForgettable(daily!.state)).toBe(true);
  });

  test('spends what was used before somebody ended its workflow', () => {
    const play = new BudgetPlay();
    play.end('a', 7, 12, play.state.books.startsAt).end('a', 7, 12, play.state.books.startsAt);
    expect(play.view.spent.tokens).toBe(12);
  });

  test('asks a person: calls wait, go on by other limits, and are refused once it is stopped', () => {
    const play = new BudgetPlay(budgetSettings({ asks: true })).want('a', 1, 100).end('a', 1, 100);
    play.want('a', 2, 10).want('b', 1, 10);
    expect(play.view).toMatchObject({ state: 'asking', calls: { waiting: 2 } });
    play.hear({ type: 'answered', limits: { maxTokens: 110 } });
    expect(play.words).toEqual(['+a/1', '+a/2']);
    play.hear({ type: 'answered', limits: 'stop' });
    expect(play.words.at(-1)).toBe('-b/1');
    expect(play.refused[0]?.message).toContain('was stopped by a person');
    play.hear({ type: 'answered', limits: { maxTokens: 200 } }).want('b', 2, 10);
    expect(play.words).toContain('+b/2');
    play.now += day;
    expect(play.hear().view).toMatchObject({ limits: { max_tokens: 100 }, state: 'open' });
  });

  test('asks a person: a call that comes again is told so, and waits for calls alone', () => {
    const comesAgain = { comesAgain: true } as const;
    const play = new BudgetPlay(budgetSettings({ asks: true })).want('a', 1, 101).want('b', 1, 30, comesAgain);
    expect([play.words, play.view.calls.waiting]).toEqual([['+a/1'], 1]);
    play.end('a', 1, 100);
    expect(play.view).toMatchObject({ state: 'asking', calls: { under_way: 0, waiting: 0 } });
    expect(play.refused).toEqual([{ worker: 'b', number: 1, isAsked: true, message: expect.any(String) as string }]);
    // It was lost on the way, and is told again; once it is stopped, it is refused like any other.
    play.want('b', 1, 30, comesAgain).hear({ type: 'answered', limits: 'stop' }).want('b', 2, 30, comesAgain);
    expect(play.refused.map(({ number, isAsked }) => [number, isAsked])).toEqual([
      ...[
        [1, true],
        [1, true],
        [2, undefined],
      ],
    ]);
    play.hear({ type: 'answered', limits: { maxTokens: 200 } }).want('b', 3, 30, comesAgain);
    expect(play.words).toContain('+b/3');
    for (const [given, isSaid] of [
      [true, true],
      [false, false],
      ['yes', false],
    ] as const) {
      const demand = { worker: 'b', number: 4, amount: amount(1), isCapped: true, cheaper: null, comesAgain: given };
      expect(isBudgetSaid({ worker: 'b', events: [{ type: 'wanted', demand }] })).toBe(isSaid);
    }
  });

  test('asks a cheaper model where there is one, from its share of the limit on', () => {
    const play = new BudgetPlay(budgetSettings({ cheaperPercent: 50 })).want('a', 1, 60).end('a', 1, 60);
    play.want('a', 2, 30, { cheaper: amount(3) }).want('a', 3, 10);
    expect(play.words).toEqual(['+a/1', '+a/2 cheaper', '+a/3']);
    play.want('a', 2, 30, { cheaper: amount(3) });
    expect(play.words).toContain('+a/2 cheaper');
    expect(play.view.held.tokens).toBe(13);
  });

  test('follows its operator: other limits hold at once, and a person’s hold on until then', () => {
    const play = new BudgetPlay().hear({ type: 'answered', limits: { maxTokens: 500 } });
    play.hear({ type: 'settings', settings: budgetSettings({ warnPercent: 10 }) });
    expect(play.view.limits.max_tokens).toBe(500);
    play.hear({ type: 'settings', settings: budgetSettings({ limits: { maxTokens: 50, maxUsdMicros: 9 } }) });
    expect(play.view.limits).toEqual({ max_tokens: 50, max_usd: '0.000009' });
    play.want('a', 1, 20).end('a', 1, 20);
    play.hear({ type: 'settings', settings: budgetSettings({ period: 'month' }) });
    expect(play.view).toMatchObject({ per: 'month', spent: { tokens: 20 }, since: '2026-11-01T00:00:00.000Z' });
  });

  test('closes accounts of workers that are long gone, without a change of what is spent', () => {
    const play = new BudgetPlay(budgetSettings({ period: 'ever' }))
      .want('a', 1, 5)
      .end('a', 1, 5)
      .after(2 * day);
    expect(play.state.books.ledger.accounts.map(({ accountId }) => accountId)).toEqual(['acme']);
    expect(play.view.spent.tokens).toBe(5);
  });

  test('has a view that its contract accepts before anything was asked of it', () => {
    const view = untouchedBudget(budgetSettings({ period: 'ever', limits: { maxTokens: null, maxUsdMicros: 5 } }), 0);
    expect(tenantBudgetSchema.parse(view)).toMatchObject({
      since: null,
      until: null,
      left: { tokens: null, usd: '0.000005' },
    });
  });
});

test.each([
  ['day', '2028-02-29T23:59:59.999Z', '2028-02-29T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ['month', '2026-12-31T12:00:00.000Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
] as const)('a %s of UTC around %s is from %s to %s', (period, at, from, to) => {
  expect(periodAt(period, Date.parse(at))).toEqual({ startsAt: Date.parse(from), endsAt: Date.parse(to) });
});

describe('what workers say', () => {
  const call = { worker: 'a', number: 1 };
  const demand = { ...call, amount: amount(5), isCapped: true, cheaper: null };
  test.each<[string, unknown, boolean]>([
    [
      'all of it',
      [
        { type: 'wanted', demand },
        { type: 'withdrawn', ...call },
      ],
      true,
    ],
    ['an end', [{ type: 'ended', ...call, since: null, used: amount(1) }], true],
    ['a sign of life', [{ type: 'alive', worker: 'a', numbers: [1, 2] }], true],
    ['less than nothing', [{ type: 'ended', ...call, since: 1, used: amount(-1) }], false],
    ['a part of a token', [{ type: 'wanted', demand: { ...demand, amount: amount(0.5) } }], false],
    ['a call without a number', [{ type: 'withdrawn', worker: 'a' }], false],
    ["a person's word", [{ type: 'answered', limits: 'stop' }], false],
    ['no list', {}, false],
  ])('%s is taken: %s', (_, events, isTaken) => {
    expect(isBudgetSaid({ worker: 'a', events })).toBe(isTaken);
  });
  test('settings that make no sense are not taken', () => {
    expect(areBudgetSettings(budgetSettings())).toBe(true);
    expect(areBudgetSettings({ ...budgetSettings(), period: 'week' })).toBe(false);
    expect(areBudgetSettings(undefined)).toBe(false);
  });
});
