import { refinementStateSchema } from '../../../src/contracts/refinement-status.js';
import {
  refinementEventNames,
  type RefinementFacts,
  refinementMachine,
} from '../../../src/domain/refinement/machine.js';
import { assignments, expected, type SpecRow, taken } from '../tables.js';

const factNames = [
  'meetsThreshold',
  'isLast',
  'improves',
  'hasScore',
] as const satisfies readonly (keyof RefinementFacts)[];

/** The order of spec 04; what has no version with a score is a failure that says so. */
const table: SpecRow<RefinementFacts>[] = [
  ['S0', 'START', 'GENERATING'],
  ['GENERATING', 'GENERATED', 'CRITIQUING'],
  ['CRITIQUING', 'SCORED', 'COMPLETE', (f) => f.meetsThreshold],
  ['CRITIQUING', 'SCORED', 'ABORTED', (f) => f.isLast || !f.improves],
  ['CRITIQUING', 'SCORED', 'GENERATING'],
  ['CRITIQUING', 'UNSCORED', 'CRITIQUING'],
  ['GENERATING', 'GENERATOR_FAILED', 'ABORTED', (f) => f.hasScore],
  ['GENERATING', 'GENERATOR_FAILED', 'FAILED'],
  ['CRITIQUING', 'CRITIC_FAILED', 'ABORTED', (f) => f.hasScore],
  ['CRITIQUING', 'CRITIC_FAILED', 'FAILED'],
  ['GENERATING or CRITIQUING', 'TIMED_OUT', 'ABORTED', (f) => f.hasScore],
  ['GENERATING or CRITIQUING', 'TIMED_OUT', 'FAILED'],
  ['GENERATING or CRITIQUING', 'BUDGET_GONE', 'ABORTED', (f) => f.hasScore],
  ['GENERATING or CRITIQUING', 'BUDGET_GONE', 'FAILED'],
  ['S0 or GENERATING or CRITIQUING', 'CANCEL', 'CANCELLED'],
];
const pairs = refinementStateSchema.options.flatMap((state) => refinementEventNames.map((on) => [state, on] as const));

describe('the refinement machine', () => {
  test.each(pairs)('in %s with %s does what the specification lists, and refuses the rest', (state, on) => {
    for (const facts of assignments(factNames)) {
      expect(taken(refinementMachine, state, on, facts)).toBe(expected('refinement', table, state, on, facts));
    }
  });

  test('has the states of the contract, of which four are ends', () => {
    expect(refinementMachine.states).toEqual(refinementStateSchema.options);
    expect(refinementMachine.terminal).toEqual(['COMPLETE', 'ABORTED', 'FAILED', 'CANCELLED']);
  });

  test('writes another version after a score alone', () => {
    const generating = refinementMachine.rows.filter(({ actions }) => actions.includes('generate'));
    expect(generating.map(({ from, on }) => [from, on])).toEqual([
      ['S0', 'START'],
      ['CRITIQUING', 'SCORED'],
    ]);
  });
});
