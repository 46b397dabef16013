import { coordinatorStateSchema } from '../../../src/contracts/coordinator-status.js';
import {
  coordinatorEventNames,
  type CoordinatorFacts,
  coordinatorMachine,
} from '../../../src/domain/coordinator/machine.js';
import { assignments, expected, type SpecRow, taken } from '../tables.js';

const factNames = [
  'needsFeedback',
  'hasAnswers',
  'isAsking',
  'isResuming',
  'allStopped',
  'hasReport',
  'isReported',
] as const satisfies readonly (keyof CoordinatorFacts)[];

/** The eight steps of spec 06 in order, the question after a timeout, and cancel at every moment. */
const table: SpecRow<CoordinatorFacts>[] = [
  ['S0', 'START', 'TRACKING'],
  ['TRACKING', 'TRACKED', 'WAITING'],
  ['MONITORING', 'STOPPED', 'PRESENTING', (f) => f.isReported],
  ['WAITING or MONITORING', 'STOPPED', 'AGGREGATING'],
  ['WAITING or MONITORING', 'TIMED_OUT', 'ASKING'],
  ['ASKING', 'STOPPED', 'AGGREGATING'],
  ['ASKING', 'CONTINUE', 'MONITORING', (f) => f.hasReport],
  ['ASKING', 'CONTINUE', 'WAITING'],
  ['ASKING', 'ABORT', 'ABORTED'],
  ['ASKING', 'RESPONSES', 'PARSING', (f) => f.hasReport],
  ['AGGREGATING', 'AGGREGATED', 'PRESENTING', (f) => f.needsFeedback],
  ['AGGREGATING', 'AGGREGATED', 'COMPLETE'],
  ['PRESENTING', 'CHANGED', 'AGGREGATING'],
  ['PRESENTING', 'MOVED_ON', 'MONITORING'],
  ['PRESENTING or RESUMING or MONITORING', 'RESPONSES', 'PARSING'],
  ['PARSING', 'PARSED', 'DISTRIBUTING', (f) => f.hasAnswers],
  ['PARSING', 'PARSED', 'ASKING', (f) => f.isAsking],
  ['PARSING', 'PARSED', 'RESUMING', (f) => f.isResuming],
  ['PARSING', 'PARSED', 'PRESENTING', (f) => f.allStopped],
  ['PARSING', 'PARSED', 'MONITORING'],
  ['DISTRIBUTING', 'DISTRIBUTED', 'RESUMING'],
  ['RESUMING', 'RESUMED', 'MONITORING'],
  [
    'S0 or TRACKING or WAITING or ASKING or AGGREGATING or PRESENTING or PARSING or DISTRIBUTING or RESUMING or MONITORING',
    'CANCEL',
    'CANCELLED',
  ],
];
const pairs = coordinatorStateSchema.options.flatMap((state) =>
  coordinatorEventNames.map((on) => [state, on] as const),
);

describe('the coordinator machine', () => {
  test.each(pairs)('in %s with %s does what the specification lists, and refuses the rest', (state, on) => {
    for (const facts of assignments(factNames)) {
      expect(taken(coordinatorMachine, state, on, facts)).toBe(expected('coordinator', table, state, on, facts));
    }
  });

  test('has the states of the contract, of which three are ends', () => {
    expect(coordinatorMachine.states).toEqual(coordinatorStateSchema.options);
    expect(coordinatorMachine.terminal).toEqual(['COMPLETE', 'ABORTED', 'CANCELLED']);
  });

  test('resumes runs after their answers were distributed, and stops them for a cancel alone', () => {
    const rows = (action: string) =>
      coordinatorMachine.rows.filter(({ actions }) => (actions as readonly string[]).includes(action));
    expect(rows('resume').map(({ from, on }) => [from, on])).toEqual([['DISTRIBUTING', 'DISTRIBUTED']]);
    expect(rows('stop_runs').map(({ on }) => on)).toEqual(['CANCEL']);
  });
});
