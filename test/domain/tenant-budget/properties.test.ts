import fc from 'fast-check';
import { findAccount } from '../../../src/domain/ledger/state.js';
import type { BudgetEvent } from '../../../src/domain/tenant-budget/messages.js';
import { newTenantBudget } from '../../../src/domain/tenant-budget/state.js';
import { stepTenantBudget } from '../../../src/domain/tenant-budget/step.js';
import { amount } from '../../support/ledger-play.js';
import { BudgetPlay, budgetSettings } from '../../support/tenant-budget-play.js';

const workers = ['a', 'b', 'c'] as const;
const move = fc.record({
  of: fc.constantFrom('want', 'want', 'want', 'end', 'end', 'repeat', 'wait', 'die'),
  worker: fc.constantFrom(...workers),
  pick: fc.nat(),
  tokens: fc.integer({ min: 1, max: 40 }),
  used: fc.integer({ min: 0, max: 40 }),
  isCapped: fc.boolean(),
});
const moves = fc.array(move, { minLength: 30, maxLength: 90 });

/** Workers that race, whose messages come twice now and then, one of them never heard of again. */
const perform = (given: readonly (typeof move extends fc.Arbitrary<infer T> ? T : never)[], maxTokens: number) => {
  const play = new BudgetPlay(budgetSettings({ limits: { maxTokens, maxUsdMicros: null } }));
  const made: Record<string, number> = {};
  const demands = new Map<string, { tokens: number; isCapped: boolean }>();
  const dead = new Set<string>();
  const said: BudgetEvent[] = [];
  const hear = (event: BudgetEvent): void => {
    said.push(event);
    play.hear(event);
  };
  let largest = 0;
  let total = 0;
  const ended = new Set<string>();
  for (const { of, worker, pick, tokens, used, isCapped } of given) {
    const open = play.granted.filter((each) => !ended.has(`${each.worker}/${each.number}`) && !dead.has(each.worker));
    const picked = open[pick % Math.max(1, open.length)];
    if (of === 'want' && !dead.has(worker)) {
      const number = (made[worker] = (made[worker] ?? 0) + 1);
      demands.set(`${worker}/${number}`, { tokens, isCapped });
      hear({ type: 'wanted', demand: { worker, number, amount: amount(tokens), isCapped, cheaper: null } });
    } else if (of === 'end' && picked) {
      const id = `${picked.worker}/${picked.number}`;
      const asked = demands.get(id)!;
      const spent = asked.isCapped ? Math.min(used, asked.tokens) : used;
      ended.add(id);
      largest = Math.max(largest, spent);
      total += spent;
      hear({ type: 'ended', ...picked, used: amount(spent) });
    } else if (of === 'repeat' && said.length > 0) {
      const event = said[pick % said.length]!;
      // A call is not wanted any more once it is over.
      const isOver = event.type === 'wanted' && ended.has(`${event.demand.worker}/${event.demand.number}`);
      if (!isOver) play.hear(event);
    } else if (of === 'wait') {
      const alive = workers.filter((each) => !dead.has(each));
      play.now += 50_000;
      for (const each of alive)
        play.hear({
          type: 'alive',
          worker: each,
          numbers: Array.from({ length: made[each] ?? 0 }, (_, index) => index + 1),
        });
    } else if (of === 'die' && dead.size === 0 && pick % 3 === 0) dead.add(worker);
  }
  const lost = play.granted.filter(({ worker }) => dead.has(worker));
  return { play, largest, total, lost: lost.length, said };
};

const options = { numRuns: 60, seed: 36 };

describe('over workers that race, with messages that come twice,', () => {
  test('no limit is passed by more than one call', () => {
    fc.assert(
      fc.property(moves, fc.integer({ min: 0, max: 150 }), (given, limit) => {
        const { play, largest } = perform(given, limit);
        // What a dead worker held is spent as it was held: at most 40.
        const most = limit + Math.max(largest, 40);
        expect(findAccount(play.state.books.ledger, 'acme')!.spent.tokens).toBeLessThanOrEqual(most);
      }),
      options,
    );
  });

  test('what was spent is what the calls used, to the token', () => {
    fc.assert(
      fc.property(moves, (given) => {
        const { play, total, lost } = perform(given, 5_000);
        if (lost === 0) expect(findAccount(play.state.books.ledger, 'acme')!.spent.tokens).toBe(total);
      }),
      options,
    );
  });

  test('all that was said may be said once more at its end, and changes nothing that is spent or held', () => {
    fc.assert(
      fc.property(moves, (given) => {
        const { play, said } = perform(given, 120);
        const over = new Set(
          said.flatMap((event) => (event.type === 'ended' ? [`${event.worker}/${event.number}`] : [])),
        );
        const again = said.filter(
          (event) => event.type !== 'wanted' || !over.has(`${event.demand.worker}/${event.demand.number}`),
        );
        const before = play.view;
        const waited = play.refused.length;
        play.hear(...again.filter((event) => event.type === 'ended'));
        expect(play.view).toEqual(before);
        play.hear(...again);
        expect(play.view.spent).toEqual(before.spent);
        expect(play.refused.length).toBeGreaterThanOrEqual(waited);
      }),
      options,
    );
  });

  test('a step of hundreds of calls is a matter of milliseconds, and the state stays small once they are over', () => {
    let state = newTenantBudget(budgetSettings({ limits: { maxTokens: 1e9, maxUsdMicros: null } }), 0);
    const say = (events: BudgetEvent[]): void => void ({ state } = stepTenantBudget(state, events, 1_000));
    const numbers = Array.from({ length: 300 }, (_, index) => index + 1);
    const call = (number: number) => ({ worker: `w${number % 4}`, number });
    say(
      numbers.map((number) => ({
        type: 'wanted',
        demand: { ...call(number), amount: amount(9), isCapped: true, cheaper: null },
      })),
    );
    expect(state.books.ledger.calls).toHaveLength(300);
    say(numbers.map((number) => ({ type: 'ended', ...call(number), since: 0, used: amount(7) })));
    expect(findAccount(state.books.ledger, 'acme')!.spent.tokens).toBe(2_100);
    expect(JSON.stringify(state).length).toBeLessThan(20_000);
  });
});
