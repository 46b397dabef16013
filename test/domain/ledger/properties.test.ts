import fc from 'fast-check';
import { addsUp, reportUse, settleCall } from '../../../src/domain/ledger/settle.js';
import { reserveCall } from '../../../src/domain/ledger/reserve.js';
import type { Account, AccountTerms, OpenCall } from '../../../src/domain/ledger/state.js';
import type { Amount } from '../../../src/domain/session/setup.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { amount, LedgerPlay, terms } from '../../support/ledger-play.js';

const ids = ['acme', 'r', 't', 'a', 'b'] as const;
const limit = fc.option(fc.integer({ min: 0, max: 120 }), { nil: null });
const account: fc.Arbitrary<AccountTerms> = fc
  .record({ maxTokens: limit, maxUsdMicros: limit, last: fc.boolean(), asks: fc.boolean(), warns: fc.boolean() })
  .map(({ maxTokens, maxUsdMicros, last, asks, warns }) =>
    terms(
      { maxTokens, maxUsdMicros },
      {
        lastCall: last ? 'admitted' : 'refused',
        asks,
        warnPercent: warns ? 50 : null,
        cheaperPercent: warns ? 75 : null,
      },
    ),
  );
const use = fc.record({ tokens: fc.integer({ min: 0, max: 60 }), usdMicros: fc.integer({ min: 0, max: 60 }) });
const move = fc.record({
  of: fc.constantFrom('reserve', 'reserve', 'reserve', 'settle', 'settle', 'report', 'again', 'expire', 'answer'),
  at: fc.constantFrom(...ids),
  pick: fc.nat(),
  held: use,
  used: use,
  isCapped: fc.boolean(),
});
const play = fc.record({
  of: fc.record({ acme: account, r: account, t: account, a: account, b: account }),
  moves: fc.array(move, { minLength: 40, maxLength: 80 }),
});
type Given = typeof play extends fc.Arbitrary<infer T> ? T : never;

const least = (a: Amount, b: Amount): Amount => ({
  tokens: Math.min(a.tokens, b.tokens),
  usdMicros: Math.min(a.usdMicros, b.usdMicros),
});

/** Plays the moves; `seen` is called after each. What a capped call uses is no more than it holds. */
const perform = (
  { of, moves }: Given,
  seen: (at: LedgerPlay, largest: Amount) => void,
  without: readonly string[] = [],
) => {
  const at = LedgerPlay.tree(of);
  const capped = new Map<OpenCall['number'], boolean>();
  let largest = amount(0);
  moves.forEach(({ of: what, at: accountId, pick, held, used, isCapped }, index) => {
    if (without.includes(what)) return;
    const number = index + 1;
    const open = at.state.calls[pick % Math.max(1, at.state.calls.length)];
    deepFreeze(at.state);
    if (what === 'reserve') {
      at.reserve(accountId, number, held, { isCapped, holder: `w${pick % 3}` });
      capped.set(number, isCapped);
    } else if (what === 'answer') {
      at.answer(accountId, pick % 3 === 0 ? 'stop' : { ...at.account(accountId).limits });
    } else if (what === 'expire') {
      at.after(pick % 40_000);
    } else if (open) {
      const took = capped.get(open.number) ? least(used, open.amount) : used;
      if (what === 'report') at.state = reportUse(at.state, open, took).ledger;
      if (what === 'settle' || what === 'again') {
        at.settle(open.accountId, open.number, took);
        largest = {
          tokens: Math.max(largest.tokens, took.tokens),
          usdMicros: Math.max(largest.usdMicros, took.usdMicros),
        };
      }
      if (what === 'again') {
        const before = at.state;
        expect(settleCall(before, open, used, at.now)).toEqual({ ledger: before, notices: [], outcome: 'repeated' });
        const once = { ...open, isCapped: true, isCheapest: false };
        expect(reserveCall(before, once, at.now)).toMatchObject({ ledger: before, notices: [], outcome: 'settled' });
      }
    }
    seen(at, largest);
  });
  return at;
};
const always = (claim: (given: Given) => void): void =>
  fc.assert(fc.property(play, claim), {
    seed: Array.from(expect.getState().currentTestName ?? '').reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) | 0, 7),
    numRuns: 100,
  });
const beyond = ({ limits, spent }: Account): Amount => ({
  tokens: limits.maxTokens === null ? 0 : spent.tokens - limits.maxTokens,
  usdMicros: limits.maxUsdMicros === null ? 0 : spent.usdMicros - limits.maxUsdMicros,
});

describe('a ledger, whatever happens,', () => {
  test('adds up at every level and survives a round through JSON', () => {
    always((given) => {
      perform(given, ({ state }) => {
        if (!addsUp(state)) throw new Error(JSON.stringify(state));
      });
      const { state } = perform(given, () => undefined);
      expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    });
  });
  test('passes no limit by more than one call', () => {
    always((given) => {
      perform(
        given,
        ({ state }, largest) => {
          for (const each of state.accounts) {
            const over = beyond(each);
            if (over.tokens > largest.tokens || over.usdMicros > largest.usdMicros) {
              throw new Error(`${each.accountId} by ${JSON.stringify({ over, largest })}`);
            }
          }
        },
        ['expire'],
      );
    });
  });
  test('tells each step of an account once for each limit', () => {
    always((given) => {
      const { steps } = perform(given, () => undefined, ['answer']);
      expect(new Set(steps).size).toBe(steps.length);
    });
  });
});

describe('a team with 1 USD', () => {
  test.each([1, 2, 3, 4, 5])(
    'and 20 agents racing spends all but a call of it, and at most one call more (seed %i)',
    (seed) => {
      fc.assert(
        fc.property(fc.infiniteStream(fc.nat({ max: 1_000_000 })), (random) => {
          const below = (bound: number): number => (random.next().value ?? 0) % bound;
          const at = new LedgerPlay().open(
            'team',
            'agent_tree',
            null,
            terms({ maxUsdMicros: 1_000_000 }, { lastCall: 'admitted' }),
          );
          const numbers = Array.from({ length: 20 }, (_, agent) => {
            at.open(`agent-${agent}`, 'lane', 'team');
            return 0;
          });
          const refused = new Set<number>();
          while (refused.size < 20) {
            const agent = below(20);
            const accountId = `agent-${agent}`;
            const number = numbers[agent] ?? 0;
            const open = at.state.calls.find((call) => call.accountId === accountId);
            if (open) at.settle(accountId, number, amount(0, below(open.amount.usdMicros + 1)));
            else {
              const result = at.reserve(accountId, number + 1, amount(0, 10_000 + below(40_000)));
              if (result.outcome === 'admitted') numbers[agent] = number + 1;
              if (result.outcome === 'refused' && result.remedy === 'stop') refused.add(agent);
            }
          }
          const { spent, reserved } = at.account('team');
          const byAgents = numbers.reduce((sum, _, agent) => sum + at.account(`agent-${agent}`).spent.usdMicros, 0);
          expect(reserved.usdMicros).toBe(0);
          expect(byAgents).toBe(spent.usdMicros);
          expect(spent.usdMicros).toBeGreaterThanOrEqual(1_000_000);
          expect(spent.usdMicros).toBeLessThanOrEqual(1_050_000);
        }),
        { seed, numRuns: 5 },
      );
    },
  );
});
