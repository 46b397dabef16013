import { sessionStateSchema } from '../../../src/contracts/session-status.js';
import {
  sessionEvents,
  sessionMachine,
  simpleSessionMachine,
  type SessionFacts,
} from '../../../src/domain/session/machine.js';
import { step } from '../../../src/domain/machine.js';
import { assignments, expected, taken, type SpecRow } from '../tables.js';

const facts = assignments<keyof SessionFacts>([
  'agreementHolds',
  'quorum',
  'provisionalEnabled',
  'lanesRunning',
  'premiumRunning',
  'waitForPremium',
  'mayEscalate',
  'arbiterAllowed',
]);

const live = 'INIT or DISPATCHED or STREAMING or BUFFERING or PROVISIONAL or RECONCILING or DEADLINE or ARBITER';

/** The table of spec 01 "Session machine", in its order. */
const table: SpecRow<SessionFacts>[] = [
  ['INIT', 'FAN_OUT', 'DISPATCHED'],
  ['DISPATCHED', 'DISPATCH_ERR', 'ERROR'],
  ['DISPATCHED', 'DISPATCH_OK', 'STREAMING'],
  ['STREAMING', 'PARTIAL', 'BUFFERING'],
  ['STREAMING', 'FINAL', 'BUFFERING'],
  ['BUFFERING', 'QUORUM_REACHED', 'PROVISIONAL', (f) => f.quorum && f.provisionalEnabled && f.lanesRunning],
  ['BUFFERING', 'QUORUM_REACHED', 'RECONCILING', (f) => f.quorum && !f.provisionalEnabled],
  ['BUFFERING', 'ALL_ENDED', 'RECONCILING', (f) => f.agreementHolds],
  ['BUFFERING', 'ALL_ENDED', 'DEADLINE', (f) => !f.agreementHolds],
  ['STREAMING or BUFFERING', 'DEADLINE', 'DEADLINE'],
  ['PROVISIONAL', 'REVISION', 'BUFFERING'],
  ['PROVISIONAL', 'EARLY_EXIT', 'PROVISIONAL', (f) => f.waitForPremium && f.premiumRunning],
  ['PROVISIONAL', 'EARLY_EXIT', 'RECONCILING'],
  ['PROVISIONAL', 'DECIDED', 'RECONCILING'],
  ['PROVISIONAL', 'ALL_ENDED', 'RECONCILING', (f) => f.agreementHolds],
  ['PROVISIONAL', 'DEADLINE', 'RECONCILING', (f) => f.agreementHolds],
  ['STREAMING or BUFFERING or PROVISIONAL or DEADLINE', 'NO_ANSWER', 'ERROR'],
  ['DEADLINE', 'ESCALATE', 'BUFFERING', (f) => f.mayEscalate],
  ['DEADLINE', 'RECONCILE', 'ARBITER', (f) => f.arbiterAllowed],
  ['DEADLINE', 'RECONCILE', 'RECONCILING'],
  ['ARBITER', 'ARBITER_RESULT', 'RECONCILING'],
  ['RECONCILING', 'RECONCILED', 'COMPLETE'],
  [live, 'CANCEL', 'CANCELLED'],
];

const simpleLive = 'INIT or DISPATCHED or STREAMING or BUFFERING or RECONCILING';

/** Spec 01 "Profile": INIT, DISPATCHED, STREAMING, BUFFERING, RECONCILING, COMPLETE, and ERROR from each. */
const simpleTable: SpecRow<SessionFacts>[] = [
  ['INIT', 'FAN_OUT', 'DISPATCHED'],
  ['DISPATCHED', 'DISPATCH_OK', 'STREAMING'],
  ['STREAMING', 'ALL_ENDED', 'BUFFERING'],
  ['BUFFERING', 'RECONCILE', 'RECONCILING'],
  ['RECONCILING', 'RECONCILED', 'COMPLETE'],
  [simpleLive, 'DISPATCH_ERR', 'ERROR'],
  [simpleLive, 'NO_ANSWER', 'ERROR'],
  [simpleLive, 'CANCEL', 'CANCELLED'],
];

const pairs = sessionStateSchema.options.flatMap((state) => sessionEvents.map((on) => [state, on] as const));

describe.each([
  ['session', sessionMachine, table],
  ['simple session', simpleSessionMachine, simpleTable],
] as const)('the %s machine', (name, machine, rows) => {
  test.each(pairs)(
    'in %s with %s does what the specification lists, under every guard, and refuses the rest',
    (state, on) => {
      const differences = facts
        .map((given) => ({
          given,
          does: taken(machine, state, on, given),
          says: expected(name, rows, state, on, given),
        }))
        .filter(({ does, says }) => does !== says);
      expect(differences).toEqual([]);
    },
  );

  test('accepts nothing more in COMPLETE, ERROR and CANCELLED', () => {
    expect(machine.terminal).toEqual(['COMPLETE', 'ERROR', 'CANCELLED']);
    expect(
      machine.terminal.flatMap((state) => sessionEvents.map((on) => taken(machine, state, on, facts[0]!))),
    ).toEqual(
      machine.terminal.flatMap((state) =>
        sessionEvents.map((on) => `${name} in ${state} cannot take ${on}; it accepts nothing more.`),
      ),
    );
  });

  test('emits the final in one place only', () => {
    const emitting = machine.rows.filter((row) => (row.actions as readonly string[]).includes('emit_final'));
    expect(emitting.map(({ from, to }) => [from, to])).toEqual([['RECONCILING', 'COMPLETE']]);
  });
});

describe('the session machine', () => {
  const all = Object.fromEntries(Object.keys(facts[0]!).map((name) => [name, true])) as unknown as SessionFacts;
  const none = Object.fromEntries(Object.keys(facts[0]!).map((name) => [name, false])) as unknown as SessionFacts;

  test.each<[string, string, string, SessionFacts, string[]]>([
    ['allocates lanes and reserves budget', 'INIT', 'FAN_OUT', none, ['allocate_lanes', 'reserve_budget']],
    ['rolls the budget back', 'DISPATCHED', 'DISPATCH_ERR', none, ['log', 'roll_back_budget', 'name_reasons']],
    ['starts the timers', 'DISPATCHED', 'DISPATCH_OK', none, ['start_timers']],
    ['reassembles and updates consensus', 'STREAMING', 'PARTIAL', none, ['reassemble', 'update_consensus']],
    ['emits a provisional', 'BUFFERING', 'QUORUM_REACHED', all, ['emit_provisional']],
    ['emits a revision', 'PROVISIONAL', 'REVISION', none, ['emit_revision']],
    ['freezes the inputs', 'BUFFERING', 'ALL_ENDED', all, ['freeze_inputs']],
    ['cancels bronze on early exit', 'PROVISIONAL', 'EARLY_EXIT', none, ['cancel_bronze', 'freeze_inputs']],
    ['gives the freed budget away', 'PROVISIONAL', 'EARLY_EXIT', all, ['cancel_bronze', 'reallocate_budget']],
    ['adds a premium lane', 'DEADLINE', 'ESCALATE', all, ['add_premium_lane', 'reserve_budget']],
    ['routes to the arbiter', 'DEADLINE', 'RECONCILE', all, ['freeze_inputs', 'route_to_arbiter']],
    ['merges the arbiter’s result', 'ARBITER', 'ARBITER_RESULT', none, ['merge']],
    ['emits the final and cancels what remains', 'RECONCILING', 'RECONCILED', none, ['emit_final', 'cancel_lanes']],
    ['names each lane’s reason', 'DEADLINE', 'NO_ANSWER', none, ['name_reasons', 'cancel_lanes']],
    ['cancels all lanes', 'ARBITER', 'CANCEL', none, ['cancel_lanes']],
  ])('%s in %s on %s', (_, state, on, given, actions) => {
    expect(step(sessionMachine, state as 'INIT', on as 'CANCEL', given).actions).toEqual(actions);
  });
});
