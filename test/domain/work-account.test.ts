import fc from 'fast-check';
import { add, type Books, budgetFaults, type BudgetLimits, noAmount, subtract } from '../../src/domain/budget.js';
import { addsUp } from '../../src/domain/ledger/settle.js';
import type { LedgerState } from '../../src/domain/ledger/state.js';
import type { Amount } from '../../src/domain/session/setup.js';
import {
  endCall,
  faultsOf,
  heldBy,
  holdCall,
  holdMore,
  isTimeOver,
  leftOf,
  openCall,
  openWorkAccount,
  pay,
  reservedOf,
  spentOf,
  timeEndOf,
  timeLeftOf,
  timeRefusal,
  timeUsed,
  useSoFar,
  withClock,
  withoutTime,
  workLimits,
} from '../../src/domain/work-account.js';
import { amount } from '../support/ledger-play.js';
import { deepFreeze } from '../support/deep-freeze.js';

const limits = (maxTokens: number | null, maxUsdMicros: number | null = null) => ({ maxTokens, maxUsdMicros });

const opened = (of: BudgetLimits, spent?: Amount): LedgerState => openWorkAccount(of, 1_000, spent);

/** Holds a call that has to fit. */
const held = (ledger: LedgerState, tokens: number): { ledger: LedgerState; call: number } => {
  const result = holdCall(ledger, amount(tokens));
  if ('faults' in result) throw new Error(result.faults.join('; '));
  return result;
};

describe('the account of a piece of work', () => {
  test('has nothing spent, or what was spent before', () => {
    expect(spentOf(opened(limits(10)))).toEqual(noAmount);
    const ledger = opened(limits(10), amount(4, 7));
    expect(spentOf(ledger)).toEqual(amount(4, 7));
    expect(leftOf(ledger)).toEqual({ tokens: 6, usdMicros: null });
  });
  test('holds what a call may use, and takes back what it did not', () => {
    const { ledger, call } = held(opened(limits(10)), 8);
    expect([openCall(ledger), reservedOf(ledger), leftOf(ledger).tokens]).toEqual([call, amount(8), 2]);
    const ended = endCall(ledger, call, amount(3));
    expect([openCall(ended), reservedOf(ended), spentOf(ended)]).toEqual([null, noAmount, amount(3)]);
  });
  test('names every limit that a call does not fit, and is as it was', () => {
    const ledger = deepFreeze(opened(limits(10, 5)));
    expect(holdCall(ledger, amount(11, 6))).toEqual({
      faults: [
        'needs 11 tokens; 10 of max_tokens 10 are left',
        'needs 0.000006 USD; 0.000005 of max_usd 0.000005 are left',
      ],
      mayWait: false,
    });
    expect(holdCall(ledger, amount(10, 5))).toHaveProperty('call', 1);
  });
  test('spends what a call uses beyond its limit, and then refuses all but what is free', () => {
    const { ledger, call } = held(opened(limits(10)), 8);
    const ended = endCall(ledger, call, amount(12));
    expect([spentOf(ended), leftOf(ended).tokens]).toEqual([amount(12), 0]);
    expect(holdCall(ended, amount(1))).toHaveProperty('faults');
    expect(holdCall(ended, noAmount)).toHaveProperty('call');
  });
  test('spends what a call used that was given back before, or was never held', () => {
    const { ledger, call } = held(opened(limits(10)), 8);
    const back = endCall(ledger, call, noAmount);
    expect(spentOf(endCall(back, call, amount(5)))).toEqual(amount(5));
    expect(spentOf(endCall(back, null, amount(5)))).toEqual(amount(5));
    expect(spentOf(pay(back, amount(5)))).toEqual(amount(5));
    expect(pay(back, noAmount)).toBe(back);
  });
  test('holds more for a call that has used more by now, and no less for one that has used less', () => {
    const { ledger, call } = held(opened(limits(10)), 4);
    expect(useSoFar(ledger, call, amount(3))).toBe(ledger);
    const grown = useSoFar(ledger, call, amount(6, 1));
    expect([reservedOf(grown), spentOf(grown)]).toEqual([amount(6, 1), noAmount]);
    expect(useSoFar(endCall(grown, call, amount(6, 1)), call, amount(20))).toHaveProperty('calls', []);
  });
  test('holds more for a call that is given a share of what others left, as long as it is open', () => {
    const { ledger, call } = held(opened(limits(10)), 4);
    const more = holdMore(ledger, call, amount(3, 1));
    expect([heldBy(more, call), reservedOf(more)]).toEqual([amount(7, 1), amount(7, 1)]);
    expect(faultsOf(more, amount(4))).toEqual([
      { code: 'EBUDGET', message: 'needs 4 tokens; 3 of max_tokens 10 are left' },
    ]);
    const ended = endCall(more, call, amount(2));
    expect([heldBy(ended, call), holdMore(ended, call, amount(3)), faultsOf(ended, amount(8))]).toEqual([
      noAmount,
      ended,
      [],
    ]);
  });
  test('gives no number twice, however calls end', () => {
    let ledger = opened(limits(null));
    const seen = new Set<number>();
    const open: number[] = [];
    for (let index = 0; index < 300; index += 1) {
      const next = held(ledger, 1);
      seen.add(next.call);
      open.push(next.call);
      ledger = next.ledger;
      if (index % 3 === 2) ledger = pay(ledger, amount(1));
      // The oldest stay open, so that what has ended lies apart.
      if (open.length > 120) ledger = endCall(ledger, open.splice((index * 7) % 120, 1)[0] ?? null, amount(1));
    }
    expect(seen.size).toBe(300);
    for (const call of open) ledger = endCall(ledger, call, amount(1));
    expect(spentOf(ledger).tokens).toBe(400);
    expect(ledger.calls).toEqual([]);
    expect(ledger.accounts[0]?.settled).toEqual([[1, 400]]);
  });
  test('counts what is beyond counting as the most that can be', () => {
    const ledger = pay(opened(limits(10)), amount(1e300, 1e300));
    expect(spentOf(ledger)).toEqual(amount(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));
    expect(holdCall(opened(limits(null)), amount(1e300))).toHaveProperty('call');
  });
});

/** A minute of time, from 1,000 ms on. */
const timed = (): LedgerState => openWorkAccount({ ...limits(10), maxMs: 60_000 }, 1_000);

describe('the time of a piece of work', () => {
  test.each([
    [{}, { maxTokens: null, maxUsdMicros: null }],
    [
      { max_tokens: 7, max_usd: 0.5 },
      { maxTokens: 7, maxUsdMicros: 500_000 },
    ],
    [{ max_seconds: 90 }, { maxTokens: null, maxUsdMicros: null, maxMs: 90_000 }],
  ])('is a limit where the budget %j says so', (budget, expected) => {
    expect(workLimits(budget)).toEqual(expected);
  });
  test.each<[string, number, number]>([
    ['at its start', 1_000, 60_000],
    ['before its start, by another clock', 500, 60_000],
    ['one millisecond before its end', 60_999, 1],
    ['at its end', 61_000, 0],
    ['long after it', 9_000_000, 0],
  ])('%s, at %d, leaves %d ms', (_when, now, left) => {
    const ledger = timed();
    expect([timeLeftOf(ledger, now), isTimeOver(ledger, now), timeEndOf(ledger)]).toEqual([left, left === 0, 61_000]);
    const result = holdCall(ledger, amount(1), now);
    expect(result).toEqual(
      left === 0
        ? { faults: ["the budget's time of 60 seconds is used up"], mayWait: false }
        : expect.objectContaining({ call: 1 }),
    );
    expect(timeRefusal(ledger, now) === null).toBe(left > 0);
  });
  test('does not pass while a person is waited for, however often that is said', () => {
    const held = withClock(timed(), true, 11_000);
    expect(withClock(held, true, 20_000)).toBe(held);
    expect([timeLeftOf(held, 9_000_000), timeEndOf(held)]).toEqual([50_000, null]);
    const on = withClock(held, false, 500_000);
    expect(withClock(on, false, 600_000)).toBe(on);
    expect([timeLeftOf(on, 500_000), timeEndOf(on)]).toEqual([50_000, 550_000]);
    // A second wait adds to the first.
    const again = withClock(withClock(on, true, 510_000), false, 700_000);
    expect([timeLeftOf(again, 700_000), isTimeOver(again, 740_000)]).toEqual([40_000, true]);
  });
  test('does not pass for what other work that it started has waited for persons', () => {
    const ledger = withoutTime(timed(), 30_000, 50_000);
    expect([timeLeftOf(ledger, 50_000), timeEndOf(ledger)]).toEqual([41_000, 91_000]);
    expect(withoutTime(ledger, 0, 60_000)).toBe(ledger);
  });
  test('is told with its limit, what has passed, and when it is over', () => {
    const used = { max_ms: 60_000, elapsed_ms: 10_000, left_ms: 50_000, as_of: '1970-01-01T00:00:11.000Z' };
    expect(timeUsed(timed(), 11_000, false)).toEqual({ ...used, ends_at: '1970-01-01T00:01:01.000Z' });
    expect(timeUsed(timed(), 11_000, true)).toEqual({ ...used, ends_at: null });
    const held = withClock(timed(), true, 11_000);
    expect(timeUsed(held, 99_000, false)).toEqual({ ...used, as_of: '1970-01-01T00:01:39.000Z', ends_at: null });
  });
  test('that is no limit leaves the account as it was before there was one', () => {
    const ledger = opened(limits(10));
    expect(ledger).toEqual(openWorkAccount({ ...limits(10) }, 1_000));
    expect(withClock(ledger, true, 5_000)).toBe(ledger);
    expect(withoutTime(ledger, 5_000, 6_000)).toBe(ledger);
    expect([timeLeftOf(ledger, 9e12), isTimeOver(ledger, 9e12), timeEndOf(ledger)]).toEqual([null, false, null]);
    expect([timeRefusal(ledger, 9e12), timeUsed(ledger, 9e12, false)]).toEqual([null, undefined]);
    expect(holdCall(ledger, amount(1), 9e12)).toHaveProperty('call', 1);
  });
});

const limit = fc.option(fc.integer({ min: 0, max: 300 }), { nil: null });
const use = fc.record({ tokens: fc.integer({ min: 0, max: 60 }), usdMicros: fc.integer({ min: 0, max: 60 }) });
const move = fc.record({
  of: fc.constantFrom('hold', 'hold', 'hold', 'end', 'end', 'spend'),
  pick: fc.nat(),
  held: use,
  used: use,
});

describe('the account of a piece of work, whatever happens,', () => {
  test('admits, refuses and says what limit - spent - reserved does, and adds up', () => {
    fc.assert(
      fc.property(limit, limit, fc.array(move, { maxLength: 60 }), (maxTokens, maxUsdMicros, moves) => {
        let ledger = opened(limits(maxTokens, maxUsdMicros));
        let books: Books = { limits: limits(maxTokens, maxUsdMicros), reserved: noAmount, spent: noAmount };
        for (const { of, pick, held: wanted, used } of moves) {
          deepFreeze(ledger);
          const open = ledger.calls[pick % Math.max(1, ledger.calls.length)];
          if (of === 'hold') {
            const messages = budgetFaults(books, wanted).map(({ message }) => message);
            const result = holdCall(ledger, wanted);
            expect('faults' in result ? result.faults : []).toEqual(messages);
            if ('faults' in result) continue;
            books = { ...books, reserved: add(books.reserved, wanted) };
            ledger = result.ledger;
          } else {
            ledger = of === 'spend' ? pay(ledger, used) : endCall(ledger, open?.number ?? null, used);
            const freed = of === 'spend' ? noAmount : (open?.amount ?? noAmount);
            books = { ...books, reserved: subtract(books.reserved, freed), spent: add(books.spent, used) };
          }
          expect({ reserved: reservedOf(ledger), spent: spentOf(ledger) }).toEqual({
            reserved: books.reserved,
            spent: books.spent,
          });
          expect(addsUp(ledger)).toBe(true);
        }
      }),
      { seed: 29, numRuns: 100 },
    );
  });
  test('conserves its limit as long as no call uses more than it holds', () => {
    const limited = limits(2_000, 1_600);
    fc.assert(
      fc.property(fc.array(move, { minLength: 100, maxLength: 300 }), (moves) => {
        let ledger = opened(limited);
        for (const { of, pick, held: wanted, used } of moves) {
          const open = ledger.calls[pick % Math.max(1, ledger.calls.length)];
          const result = of === 'hold' || !open ? holdCall(ledger, wanted) : null;
          if (result) ledger = 'faults' in result ? ledger : result.ledger;
          else if (open) ledger = endCall(ledger, open.number, subtract(open.amount, used));
          const { tokens, usdMicros } = add(spentOf(ledger), reservedOf(ledger));
          expect(leftOf(ledger)).toEqual({ tokens: 2_000 - tokens, usdMicros: 1_600 - usdMicros });
        }
      }),
      { seed: 29, numRuns: 20 },
    );
  });
});
