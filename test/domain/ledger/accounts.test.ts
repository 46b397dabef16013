import type { AccountLevel } from '../../../src/domain/ledger/state.js';
import { includesNumber, type NumberRanges, withNumber } from '../../../src/domain/ledger/number-ranges.js';
import { ledgerView } from '../../../src/domain/ledger/view.js';
import { ledgerAccountSchema } from '../../../src/contracts/ledger.js';
import { amount, LedgerPlay, terms } from '../../support/ledger-play.js';

describe('an account', () => {
  const nesting: [AccountLevel, AccountLevel, boolean][] = [
    ['tenant', 'tenant', false],
    ['tenant', 'run', true],
    ['tenant', 'agent_tree', true],
    ['tenant', 'lane', true],
    ['run', 'tenant', false],
    ['run', 'run', true],
    ['run', 'agent_tree', true],
    ['run', 'lane', true],
    ['agent_tree', 'tenant', false],
    ['agent_tree', 'run', false],
    ['agent_tree', 'agent_tree', true],
    ['agent_tree', 'lane', true],
    ['lane', 'tenant', false],
    ['lane', 'run', false],
    ['lane', 'agent_tree', false],
    ['lane', 'lane', false],
  ];
  test.each(nesting)('of a %s holds a %s: %s', (outer, inner, isAllowed) => {
    const open = (): LedgerPlay => new LedgerPlay().open('outer', outer, null).open('inner', inner, 'outer');
    if (isAllowed) expect(open().state.accounts).toHaveLength(2);
    else expect(open).toThrow(`account inner: its level ${inner} does not stand in the ${outer} outer`);
  });
  test('opened once more as it was opened stays as it is, also with other limits by now', () => {
    const play = LedgerPlay.tree({ r: terms({ maxTokens: 5 }) }).answer('r', terms({ maxTokens: 50 }).limits);
    const before = play.state;
    expect(play.open('r', 'run', 'acme', terms({ maxTokens: 5 })).state).toBe(before);
  });
  test.each([
    [
      'other terms',
      () => LedgerPlay.tree().open('r', 'run', 'acme', terms({ maxTokens: 5 })),
      'is open with other terms',
    ],
    ['another parent', () => LedgerPlay.tree().open('r', 'run', null), 'is open with other terms'],
    ['no parent', () => new LedgerPlay().open('r', 'run', 'acme'), 'no account acme is open'],
    [
      'wrong terms',
      () => new LedgerPlay().open('r', 'run', null, terms({ maxTokens: -1, maxMs: 0.5 }, { warnPercent: 101 })),
      'account r: maxTokens must be a whole number, 0 or more, or null; got -1; maxMs must be a whole number, 0 or more, ' +
        'or null; got 0.5; warnPercent must be a whole number from 0 to 100, or null; got 101',
    ],
  ])('with %s is refused', (_, open, message) => {
    expect(open).toThrow(message);
  });
  test('that is closed leaves what it spent with those above', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(5));
    play.settle('a', 1, amount(5));
    play.close('a').close('a').close('b').close('t');
    expect(play.account('r')).toMatchObject({ spent: amount(5), closed: amount(5), own: amount(0) });
    play.close('r').close('acme');
    expect(play.state).toEqual({ accounts: [], calls: [] });
  });
  test('is not closed while something is open in it', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 3, amount(5));
    expect(() => play.close('a')).toThrow('account a has open: call 3; settle or expire its calls');
    expect(() => play.close('t')).toThrow('account t has open: account a, account b;');
  });
  test('has a view that its contract accepts', () => {
    const play = LedgerPlay.tree({ r: terms({ maxTokens: 10, maxUsdMicros: 500_000, maxMs: 9_000 }, { asks: true }) });
    play.reserve('a', 1, amount(8, 100));
    play.settle('a', 1, amount(4, 100));
    play.reserve('a', 2, amount(6, 100));
    play.reserve('b', 1, amount(11));
    play.now += 7;
    const [tenant, run, , lane] = ledgerView(play.state, play.now).map((each) => ledgerAccountSchema.parse(each));
    expect(tenant?.limits).toEqual({ max_tokens: null, max_usd: null, max_ms: null });
    expect(run).toEqual({
      account_id: 'r',
      level: 'run',
      parent: 'acme',
      limits: { max_tokens: 10, max_usd: '0.5', max_ms: 9_000 },
      spent: { tokens: 4, usd: '0.0001' },
      reserved: { tokens: 6, usd: '0.0001' },
      elapsed_ms: 7,
      steps: ['ask'],
      state: 'asking',
      open_calls: 0,
    });
    expect(lane?.open_calls).toBe(1);
  });
});

describe('numbers in ranges', () => {
  test.each<[NumberRanges, number, NumberRanges]>([
    [[], 5, [[5, 5]]],
    [[[1, 4]], 5, [[1, 5]]],
    [[[6, 9]], 5, [[5, 9]]],
    [
      [
        [1, 4],
        [6, 9],
      ],
      5,
      [[1, 9]],
    ],
    [
      [
        [1, 3],
        [7, 9],
      ],
      5,
      [
        [1, 3],
        [5, 5],
        [7, 9],
      ],
    ],
    [[[1, 9]], 5, [[1, 9]]],
    [
      [
        [1, 1],
        [3, 3],
        [5, 5],
      ],
      9,
      [
        [1, 3],
        [5, 5],
        [9, 9],
      ],
    ],
  ])('%j with %i are %j', (ranges, number, expected) => {
    expect(withNumber(ranges, number, 3)).toEqual(expected);
  });
  test('hold what was put in, in any order', () => {
    const numbers = Array.from({ length: 50 }, (_, index) => ((index * 37) % 101) + 1);
    const ranges = numbers.reduce<NumberRanges>((all, number) => withNumber(all, number, 100), []);
    for (let number = 0; number <= 102; number += 1) {
      expect(includesNumber(ranges, number)).toBe(numbers.includes(number));
    }
  });
});
