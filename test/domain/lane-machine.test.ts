import { laneStateSchema } from '../../src/contracts/session-status.js';
import { laneEvents, laneMachine, type LaneFacts } from '../../src/domain/lane-machine.js';
import { assignments, expected, taken, type SpecRow } from './tables.js';

const facts = assignments<keyof LaneFacts>(['budgetOk', 'windowOk', 'policyOk', 'restarted']);

/** Spec 01 "Lane machine", in its order; a lane whose worker died starts again without leaving its state. */
const table: SpecRow<LaneFacts>[] = [
  ['INIT', 'ADMIT', 'ADMITTED', (f) => f.budgetOk && f.windowOk && f.policyOk],
  ['INIT', 'ADMIT', 'REJECTED'],
  ['ADMITTED', 'DISPATCH_OK', 'STREAMING'],
  ['ADMITTED', 'DISPATCH_ERR', 'FAILED'],
  ['STREAMING or PAUSED', 'DISPATCH_OK', 'STREAMING', (f) => f.restarted],
  ['STREAMING or PAUSED', 'DISPATCH_ERR', 'FAILED', (f) => f.restarted],
  ['STREAMING', 'PARTIAL', 'STREAMING'],
  ['STREAMING', 'BACKPRESSURE', 'PAUSED'],
  ['STREAMING', 'PAUSE', 'PAUSED'],
  ['PAUSED', 'RESUME', 'STREAMING'],
  ['STREAMING or PAUSED', 'FINAL', 'FINALIZED'],
  ['ADMITTED or STREAMING or PAUSED', 'FAIL', 'FAILED'],
  ['ADMITTED or STREAMING or PAUSED', 'TIMEOUT', 'FAILED'],
  ['ADMITTED or STREAMING or PAUSED', 'CANCEL', 'CANCELLED'],
];

describe('the lane machine', () => {
  test.each(laneStateSchema.options.flatMap((state) => laneEvents.map((on) => [state, on] as const)))(
    'in %s with %s does what the specification lists, under every guard, and refuses the rest',
    (state, on) => {
      const differences = facts
        .map((given) => ({
          given,
          does: taken(laneMachine, state, on, given),
          says: expected('lane', table, state, on, given),
        }))
        .filter(({ does, says }) => does !== says);
      expect(differences).toEqual([]);
    },
  );

  test('says what a lane accepts', () => {
    const none: LaneFacts = { budgetOk: true, windowOk: true, policyOk: true, restarted: false };
    expect(taken(laneMachine, 'ADMITTED', 'RESUME', none)).toBe(
      'lane in ADMITTED cannot take RESUME; it accepts DISPATCH_OK, DISPATCH_ERR, FAIL, TIMEOUT, CANCEL.',
    );
    expect(taken(laneMachine, 'FINALIZED', 'RESUME', none)).toBe(
      'lane in FINALIZED cannot take RESUME; it accepts nothing more.',
    );
  });

  test.each(['REJECTED', 'FINALIZED', 'FAILED', 'CANCELLED'] as const)('is over in %s', (state) => {
    expect(laneMachine.terminal).toContain(state);
    expect(laneMachine.rows.flatMap(({ from }) => from)).not.toContain(state);
  });
});
