import { fanOutStateSchema } from '../../../src/contracts/fan-out-status.js';
import { fanOutEventNames, fanOutMachine, type FanOutFacts } from '../../../src/domain/fan-out/machine.js';
import { assignments, expected, type SpecRow, taken } from '../tables.js';

const table: SpecRow<FanOutFacts>[] = [
  ['IDLE', 'START', 'PREPARING'],
  ['PREPARING', 'PREPARED', 'RUNNING'],
  ['PREPARING', 'FAULT', 'FAILED'],
  ['RUNNING', 'SETTLED', 'FANNING_IN', (f) => f.passes],
  ['RUNNING', 'SETTLED', 'FAILED'],
  ['RUNNING', 'TIMEOUT', 'FANNING_IN', (f) => f.passes],
  ['RUNNING', 'TIMEOUT', 'FAILED'],
  ['FANNING_IN', 'COMBINED', 'SCORING', (f) => f.isScored],
  ['FANNING_IN', 'COMBINED', 'COMPLETED'],
  ['FANNING_IN', 'FAULT', 'FAILED'],
  ['SCORING', 'SCORED', 'COMPLETED'],
  ['IDLE or PREPARING or RUNNING or FANNING_IN or SCORING', 'CANCEL', 'CANCELLED'],
];

describe('the fan-out machine', () => {
  test.each(fanOutStateSchema.options)('in %s takes what the table lists, and refuses the rest by name', (state) => {
    for (const on of fanOutEventNames) {
      for (const facts of assignments(['passes', 'isScored'])) {
        expect(taken(fanOutMachine, state, on, facts)).toBe(expected('fan-out', table, state, on, facts));
      }
    }
  });
});
