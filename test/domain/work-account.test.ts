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
  leftOf,
  openCall,
  openWorkAccount,
  pay,
  reservedOf,
  spentOf,
  useSoFar,
} from '../../src/domain/work-account.js';
import { amount } from '../support/ledger-play.js';
import { deepFreeze } from '../support/session-play.js';

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
