import {
  type BreakerEvent,
  breakerEvents,
  type BreakerFacts,
  breakerHeard,
  breakerMachine,
  type BreakerState,
  breakerStates,
  breakerStep,
  closedBreaker,
} from '../../../src/domain/governor/breaker.js';
import { assignments, expected, type SpecRow, taken } from '../tables.js';

const table: SpecRow<BreakerFacts>[] = [
  ['CLOSED', 'ANSWERED', 'CLOSED'],
  ['CLOSED', 'FAILED', 'OPEN', (f) => f.isLast],
  ['CLOSED', 'FAILED', 'CLOSED'],
  ['OPEN', 'COOLED', 'HALF_OPEN'],
  ['HALF_OPEN', 'ANSWERED', 'CLOSED'],
  ['HALF_OPEN', 'FAILED', 'OPEN'],
];
const pairs = breakerStates.flatMap((state) => breakerEvents.map((on) => [state, on] as const));

describe('the breaker', () => {
  test.each(pairs)('in %s with %s does what its table lists, and refuses the rest', (state, on) => {
    for (const facts of assignments(['isLast'])) {
      expect(taken(breakerMachine, state, on, facts)).toBe(expected('breaker', table, state, on, facts));
    }
  });

  const rules = { failures: 3, coolMs: 1_000, longestCoolMs: 3_000 };
  const after = (events: readonly BreakerEvent[]) =>
    events.reduce((breaker, event) => breakerStep(breaker, event, rules, 0), closedBreaker);
  test.each<[BreakerEvent[], BreakerState, number]>([
    [['FAILED', 'FAILED'], 'CLOSED', 0],
    [['FAILED', 'FAILED', 'ANSWERED', 'FAILED', 'FAILED'], 'CLOSED', 0],
    [['FAILED', 'FAILED', 'FAILED'], 'OPEN', 1_000],
    [['FAILED', 'FAILED', 'FAILED', 'COOLED', 'FAILED'], 'OPEN', 2_000],
    [['FAILED', 'FAILED', 'FAILED', 'COOLED', 'FAILED', 'COOLED', 'FAILED'], 'OPEN', 3_000],
    [['FAILED', 'FAILED', 'FAILED', 'COOLED', 'ANSWERED', 'FAILED', 'FAILED'], 'CLOSED', 0],
    [['FAILED', 'FAILED', 'FAILED', 'COOLED', 'ANSWERED', 'FAILED', 'FAILED', 'FAILED'], 'OPEN', 1_000],
  ])('after %j is %s, until %i', (events, state, coolUntil) => {
    expect(after(events)).toMatchObject({ state, coolUntil });
  });
  test('hears nothing of calls from before it opened', () => {
    const open = after(['FAILED', 'FAILED', 'FAILED']);
    expect(breakerHeard(open, 'ANSWERED', 0, rules, 0)).toBe(open);
    const half = breakerStep(open, 'COOLED', rules, 1_000);
    expect(breakerHeard(half, 'FAILED', 0, rules, 1_000)).toBe(half);
    expect(breakerHeard(half, 'ANSWERED', half.epoch, rules, 1_000).state).toBe('CLOSED');
  });
});
