import { ParleyError } from '../../../src/domain/errors.js';
import type { ReserveResult } from '../../../src/domain/ledger/reserve.js';
import { addsUp, tickLedger } from '../../../src/domain/ledger/settle.js';
import { amount, LedgerPlay, terms } from '../../support/ledger-play.js';

const outcome = (result: ReserveResult): string =>
  result.outcome === 'refused'
    ? `refused, ${result.remedy}: ${result.faults.map((fault) => `${fault.accountId} ${fault.message}`).join('; ')}`
    : result.outcome;

describe('a reservation', () => {
  test.each([
    ['acme', 'acme needs 11 tokens; 10 of max_tokens 10 are left'],
    ['r', 'r needs 11 tokens; 10 of max_tokens 10 are left'],
    ['t', 't needs 11 tokens; 10 of max_tokens 10 are left'],
    ['a', 'a needs 11 tokens; 10 of max_tokens 10 are left'],
  ] as const)('that does not fit %s is held at no level', (at, message) => {
    const play = LedgerPlay.tree({ [at]: terms({ maxTokens: 10 }) });
    const before = play.state.accounts.map(({ reserved }) => reserved);
    expect(outcome(play.reserve('a', 1, amount(11)))).toBe(`refused, stop: ${message}`);
    expect(play.state.accounts.map(({ reserved }) => reserved)).toEqual(before);
    expect(play.state.calls).toEqual([]);
    expect(outcome(play.reserve('a', 1, amount(10)))).toBe('admitted');
  });
  test('names every account and every limit that it does not fit', () => {
    const play = LedgerPlay.tree({ r: terms({ maxTokens: 5 }), a: terms({ maxTokens: 6, maxUsdMicros: 1 }) });
    const result = play.reserve('a', 1, amount(7, 2));
    expect(result.outcome === 'refused' && result.faults).toEqual([
      {
        accountId: 'a',
        level: 'lane',
        code: 'EBUDGET',
        message: 'needs 7 tokens; 6 of max_tokens 6 are left',
      },
      {
        accountId: 'a',
        level: 'lane',
        code: 'EBUDGET',
        message: 'needs 0.000002 USD; 0.000001 of max_usd 0.000001 are left',
      },
      { accountId: 'r', level: 'run', code: 'EBUDGET', message: 'needs 7 tokens; 5 of max_tokens 5 are left' },
    ]);
  });
  test('is held at every level above, and at none beside', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(7, 3));
    expect(play.state.accounts.map(({ accountId, reserved }) => [accountId, reserved.tokens])).toEqual([
      ['acme', 7],
      ['r', 7],
      ['t', 7],
      ['a', 7],
      ['b', 0],
    ]);
  });
  test('that is repeated changes nothing, open or settled', () => {
    const play = LedgerPlay.tree({ t: terms({ maxTokens: 10 }) });
    play.reserve('a', 1, amount(6));
    const open = play.state;
    expect(outcome(play.reserve('a', 1, amount(9)))).toBe('repeated');
    expect(play.state).toBe(open);
    play.settle('a', 1, amount(2));
    const settled = play.state;
    expect(outcome(play.reserve('a', 1, amount(6)))).toBe('settled');
    expect(play.state).toBe(settled);
  });
  test('that was refused leaves its number free', () => {
    const play = LedgerPlay.tree({ a: terms({ maxTokens: 10 }) });
    play.reserve('a', 1, amount(11));
    expect(outcome(play.reserve('a', 1, amount(10)))).toBe('admitted');
  });
  test.each([
    ['a', 0, amount(1), "a call's number is a whole number from 1; got 0 of a"],
    ['a', 1, amount(0.5), 'the amount of call 1 of a must be a whole number of tokens, 0 or more; got 0.5'],
    [
      'a',
      1,
      amount(1, -1),
      'the amount of call 1 of a must be a whole number of millionths of a dollar, 0 or more; got -1',
    ],
    ['a', 1, amount(NaN), 'the amount of call 1 of a must be a whole number of tokens, 0 or more; got NaN'],
    ['x', 1, amount(1), 'no account x is open in this ledger; open it first'],
  ])('of %s with number %i and %j is wrong: %s', (accountId, number, held, message) => {
    expect(() => LedgerPlay.tree().reserve(accountId, number, held)).toThrow(
      new ParleyError('invalid_request', message),
    );
  });
});

describe('a settled call', () => {
  test('returns the rest and spends what it used at every level above', () => {
    const play = LedgerPlay.tree({ acme: terms({ maxTokens: 100 }) });
    play.reserve('a', 1, amount(60, 30));
    expect(play.settle('a', 1, amount(20, 5))).toBe('settled');
    for (const id of ['acme', 'r', 't', 'a']) {
      expect(play.account(id)).toMatchObject({ spent: amount(20, 5), reserved: amount(0, 0) });
    }
    expect(play.account('b').spent).toEqual(amount(0, 0));
    expect(outcome(play.reserve('b', 1, amount(80)))).toBe('admitted');
  });
  test('counts once', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(6));
    play.settle('a', 1, amount(5));
    expect(play.settle('a', 1, amount(5))).toBe('repeated');
    expect(play.account('acme').spent.tokens).toBe(5);
  });
  test('that was never made spends nothing and is over', () => {
    const play = LedgerPlay.tree();
    play.reserve('a', 1, amount(6));
    expect(play.settle('a', 1, amount(0))).toBe('settled');
    expect(play.reserve('a', 1, amount(6)).outcome).toBe('settled');
  });
  test('spends what it used even beyond a limit, and nothing more is admitted', () => {
    const play = LedgerPlay.tree({ r: terms({ maxTokens: 10 }) });
    play.reserve('a', 1, amount(8));
    play.settle('a', 1, amount(15));
    expect(play.account('r').spent.tokens).toBe(15);
    expect(outcome(play.reserve('b', 1, amount(1)))).toBe(
      'refused, stop: r needs 1 tokens; 0 of max_tokens 10 are left',
    );
  });
  test('of a closed account changes nothing', () => {
    const play = LedgerPlay.tree().close('a');
    const before = play.state;
    expect(play.settle('a', 1, amount(9))).toBe('closed');
    expect(play.state).toBe(before);
  });
});

describe('a ledger', () => {
  test('stays small over 10,000 calls, and is whole after a round through JSON', () => {
    const play = LedgerPlay.tree({ acme: terms({ maxTokens: 1_000_000 }) });
    for (let number = 1; number <= 10_000; number += 1) {
      play.reserve(number % 3 === 0 ? 'a' : 'b', number, amount(20, 7));
      if (number === 5_000) play.state = JSON.parse(JSON.stringify(play.state)) as typeof play.state;
      if (number % 100 !== 0) play.settle(number % 3 === 0 ? 'a' : 'b', number, amount(10, 3));
    }
    play.after(60_000);
    const carried = JSON.stringify(play.state);
    expect(carried.length).toBeLessThan(6_000);
    expect(play.account('acme').spent).toEqual(amount(99_000, 29_700));
    expect(addsUp(JSON.parse(carried) as typeof play.state)).toBe(true);
    expect(tickLedger(play.state, play.now).ledger).toEqual(play.state);
  });
});
