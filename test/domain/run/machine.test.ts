import { runStateSchema } from '../../../src/contracts/run-status.js';
import { runEventNames, type RunFacts, runMachine } from '../../../src/domain/run/machine.js';
import { assignments, expected, type SpecRow, taken } from '../tables.js';

const factNames = ['cancelled', 'hasGate', 'isLast', 'asksOnError'] as const satisfies readonly (keyof RunFacts)[];

/** The stop states of spec 06, and what leads out of the two pauses. */
const table: SpecRow<RunFacts>[] = [
  ['pending', 'START', 'in_progress'],
  ['pending', 'CANCEL', 'cancelled'],
  ['in_progress', 'PREPARED', 'cancelled', (f) => f.cancelled],
  ['in_progress', 'PREPARED', 'in_progress'],
  ['in_progress', 'STEP_SUCCEEDED', 'cancelled', (f) => f.cancelled],
  ['in_progress', 'STEP_SUCCEEDED', 'awaiting_feedback', (f) => f.hasGate],
  ['in_progress', 'STEP_SUCCEEDED', 'completed', (f) => f.isLast],
  ['in_progress', 'STEP_SUCCEEDED', 'in_progress'],
  ['in_progress', 'GATE_REACHED', 'awaiting_feedback'],
  ['in_progress', 'STEP_FAILED', 'cancelled', (f) => f.cancelled],
  ['in_progress', 'STEP_FAILED', 'awaiting_feedback', (f) => f.asksOnError],
  ['in_progress', 'STEP_FAILED', 'error'],
  ['in_progress', 'STEP_STOPPED', 'cancelled'],
  ['awaiting_feedback', 'GRANTED', 'completed', (f) => f.isLast],
  ['awaiting_feedback', 'GRANTED', 'in_progress'],
  ['awaiting_feedback', 'CHANGES_REQUESTED', 'in_progress'],
  ['awaiting_feedback or error', 'RETRIED', 'in_progress'],
  ['awaiting_feedback', 'SKIPPED', 'completed', (f) => f.isLast],
  ['awaiting_feedback', 'SKIPPED', 'in_progress'],
  ['awaiting_feedback or error', 'ABORTED', 'cancelled'],
  ['in_progress', 'CANCEL', 'in_progress'],
  ['awaiting_feedback or error', 'CANCEL', 'cancelled'],
];
const pairs = runStateSchema.options.flatMap((state) => runEventNames.map((on) => [state, on] as const));

describe('the run machine', () => {
  test.each(pairs)('in %s with %s does what the specification lists, and refuses the rest', (state, on) => {
    for (const facts of assignments(factNames)) {
      expect(taken(runMachine, state, on, facts)).toBe(expected('run', table, state, on, facts));
    }
  });

  test('has the states of the contract, of which two are ends', () => {
    expect(runMachine.states).toEqual(runStateSchema.options);
    expect(runMachine.terminal).toEqual(['completed', 'cancelled']);
  });

  test('asks a person wherever it pauses, and nowhere else', () => {
    const asking = runMachine.rows.filter(({ actions }) => actions.some((name) => /^ask/.test(name)));
    const pausing = runMachine.rows.filter(({ to }) => to === 'awaiting_feedback' || to === 'error');
    expect(asking).toEqual(pausing);
  });
});
