import { debateStateSchema, type DebateStateName } from '../../../src/contracts/debate-status.js';
import { debateEventNames, type DebateFacts, debateMachine } from '../../../src/domain/debate/machine.js';
import { step } from '../../../src/domain/machine.js';
import { assignments, expected, type SpecRow, taken } from '../tables.js';

const factNames = [
  'mayRefine',
  'wantsRefinement',
  'veto',
  'securityValid',
  'consensusHolds',
  'approvalRequired',
  'snapshotTaken',
  'valid',
  'mayRepair',
  'checksHealth',
  'aborts',
  'leavesEvidence',
] as const satisfies readonly (keyof DebateFacts)[];

/** What the rows of a state look at; the other facts are all true once, and all false once. */
const lookedAt: Partial<Record<DebateStateName, readonly (keyof DebateFacts)[]>> = {
  MULTI_PASS_CHECK: ['veto', 'wantsRefinement', 'mayRefine'],
  RESOLVING: ['veto', 'securityValid', 'consensusHolds', 'approvalRequired'],
  AWAITING_APPROVAL: ['mayRefine', 'snapshotTaken', 'leavesEvidence'],
  EXECUTING: ['snapshotTaken', 'leavesEvidence'],
  VALIDATING: ['valid', 'mayRepair', 'checksHealth'],
  SELF_HEALING: ['approvalRequired'],
  ROLLING_BACK: ['aborts', 'leavesEvidence'],
  AUDITING: ['aborts'],
};
const factsFor = (state: DebateStateName): DebateFacts[] => {
  const all = (value: boolean): DebateFacts =>
    Object.fromEntries(factNames.map((name) => [name, value])) as unknown as DebateFacts;
  return [false, true].flatMap((rest) =>
    assignments(lookedAt[state] ?? []).map((given): DebateFacts => ({ ...all(rest), ...given })),
  );
};

const deliberating =
  'IDLE or VERIFYING_IDENTITY or LOADING_CONTEXT or CLASSIFYING or PLANNING or ROUND_ANALYST or ROUND_SOLUTION or ' +
  'ROUND_CRITIC or ROUND_SECURITY or ROUND_OPTIMIZER or MULTI_PASS_CHECK or AGGREGATING or CALCULATING_CONSENSUS or ' +
  'ELO_DUELS or RESOLVING';

/** The order of spec 02, and what details 2 says of its edges. */
const table: SpecRow<DebateFacts>[] = [
  ['IDLE', 'START', 'VERIFYING_IDENTITY'],
  ['VERIFYING_IDENTITY', 'IDENTITY_OK', 'LOADING_CONTEXT'],
  ['VERIFYING_IDENTITY', 'IDENTITY_MISMATCH', 'ABORTED'],
  ['VERIFYING_IDENTITY', 'FAULT', 'ABORTED'],
  ['LOADING_CONTEXT', 'CONTEXT_LOADED', 'CLASSIFYING'],
  ['CLASSIFYING', 'CLASSIFIED', 'PLANNING'],
  ['PLANNING', 'PLANNED', 'ROUND_ANALYST'],
  ['ROUND_ANALYST', 'SPOKEN', 'ROUND_SOLUTION'],
  ['ROUND_SOLUTION', 'SPOKEN', 'ROUND_CRITIC'],
  ['ROUND_CRITIC', 'SPOKEN', 'ROUND_SECURITY'],
  ['ROUND_SECURITY', 'SPOKEN', 'ROUND_OPTIMIZER'],
  ['ROUND_OPTIMIZER', 'SPOKEN', 'MULTI_PASS_CHECK'],
  ['MULTI_PASS_CHECK', 'CHECKED', 'ROUND_SOLUTION', (f) => !f.veto && f.wantsRefinement && f.mayRefine],
  ['MULTI_PASS_CHECK', 'CHECKED', 'AGGREGATING'],
  ['AGGREGATING', 'AGGREGATED', 'CALCULATING_CONSENSUS'],
  ['CALCULATING_CONSENSUS', 'CALCULATED', 'ELO_DUELS'],
  ['ELO_DUELS', 'DUELLED', 'RESOLVING'],
  ['RESOLVING', 'RESOLVED', 'BLOCKED', (f) => f.veto || !f.securityValid || !f.consensusHolds],
  ['RESOLVING', 'RESOLVED', 'AWAITING_APPROVAL', (f) => f.approvalRequired],
  ['RESOLVING', 'RESOLVED', 'EXECUTING'],
  ['AWAITING_APPROVAL', 'APPROVED', 'EXECUTING'],
  ['AWAITING_APPROVAL', 'CHANGES_REQUESTED', 'ROUND_SOLUTION', (f) => f.mayRefine],
  ['AWAITING_APPROVAL', 'REJECTED', 'ROLLING_BACK', (f) => f.snapshotTaken],
  ['AWAITING_APPROVAL', 'REJECTED', 'BLOCKED'],
  ['AWAITING_APPROVAL', 'EXPIRED', 'ROLLING_BACK', (f) => f.snapshotTaken],
  ['AWAITING_APPROVAL', 'EXPIRED', 'BLOCKED'],
  ['AWAITING_APPROVAL', 'VOIDED', 'AWAITING_APPROVAL'],
  ['EXECUTING', 'EXECUTED', 'VALIDATING'],
  ['EXECUTING', 'FAULT', 'AUDITING', (f) => !f.snapshotTaken && f.leavesEvidence],
  ['EXECUTING', 'FAULT', 'ABORTED', (f) => !f.snapshotTaken],
  ['EXECUTING', 'FAULT', 'ROLLING_BACK'],
  ['VALIDATING', 'VALIDATED', 'SUCCEEDED', (f) => f.valid],
  ['VALIDATING', 'VALIDATED', 'SELF_HEALING', (f) => f.mayRepair],
  ['VALIDATING', 'VALIDATED', 'ROLLING_BACK'],
  ['SELF_HEALING', 'HEALTHY', 'SUCCEEDED'],
  ['SELF_HEALING', 'UNHEALTHY', 'SELF_HEALING'],
  ['SELF_HEALING', 'REPAIRED', 'AWAITING_APPROVAL', (f) => f.approvalRequired],
  ['SELF_HEALING', 'REPAIRED', 'EXECUTING'],
  ['SELF_HEALING', 'GIVEN_UP', 'ROLLING_BACK'],
  ['ROLLING_BACK', 'ROLLED_BACK', 'AUDITING', (f) => f.aborts && f.leavesEvidence],
  ['ROLLING_BACK', 'ROLLED_BACK', 'ABORTED', (f) => f.aborts],
  ['ROLLING_BACK', 'ROLLED_BACK', 'STORING_MEMORY'],
  ['SUCCEEDED or BLOCKED', 'CLOSED', 'STORING_MEMORY'],
  ['STORING_MEMORY', 'STORED', 'AUDITING'],
  ['AUDITING', 'AUDITED', 'ABORTED', (f) => f.aborts],
  ['AUDITING', 'AUDITED', 'DONE'],
  [deliberating, 'CANCEL', 'AUDITING', (f) => f.leavesEvidence],
  [deliberating, 'CANCEL', 'ABORTED'],
  ['AWAITING_APPROVAL or EXECUTING', 'CANCEL', 'ROLLING_BACK', (f) => f.snapshotTaken],
  ['AWAITING_APPROVAL or EXECUTING', 'CANCEL', 'AUDITING', (f) => f.leavesEvidence],
  ['AWAITING_APPROVAL or EXECUTING', 'CANCEL', 'ABORTED'],
  ['VALIDATING or SELF_HEALING', 'CANCEL', 'ROLLING_BACK'],
  ['ROLLING_BACK', 'CANCEL', 'ROLLING_BACK'],
  ['SUCCEEDED or BLOCKED', 'CANCEL', 'STORING_MEMORY'],
  ['STORING_MEMORY', 'CANCEL', 'STORING_MEMORY'],
  ['AUDITING', 'CANCEL', 'AUDITING'],
];

const pairs = debateStateSchema.options.flatMap((state) => debateEventNames.map((on) => [state, on] as const));

describe('the debate machine', () => {
  test.each(pairs)(
    'in %s with %s does what the specification lists, under every guard, and refuses the rest',
    (state, on) => {
      const differences = factsFor(state)
        .map((given) => ({
          given,
          does: taken(debateMachine, state, on, given),
          says: expected('debate', table, state, on, given),
        }))
        .filter(({ does, says }) => does !== says);
      expect(differences).toEqual([]);
    },
  );

  test('has the states of the contract, and accepts nothing more in DONE and ABORTED', () => {
    expect(debateMachine.states).toEqual(debateStateSchema.options);
    expect(debateMachine.terminal).toEqual(['DONE', 'ABORTED']);
  });

  test('runs tasks in EXECUTING alone, and enters it with a decision or a repair alone', () => {
    const running = debateMachine.rows.filter(({ actions }) => actions.includes('run_tasks'));
    expect(running.map(({ from, on, to }) => [from, on, to])).toEqual([
      ['RESOLVING', 'RESOLVED', 'EXECUTING'],
      ['AWAITING_APPROVAL', 'APPROVED', 'EXECUTING'],
      ['SELF_HEALING', 'REPAIRED', 'EXECUTING'],
    ]);
    expect(debateMachine.rows.filter(({ to }) => to === 'EXECUTING')).toEqual(running);
  });

  test('writes memory and audit before DONE, and no memory before ABORTED', () => {
    const into = (state: string): unknown[] =>
      debateMachine.rows.filter(({ to }) => to === state).map(({ from }) => from);
    expect(into('DONE')).toEqual(['AUDITING']);
    expect(into('STORING_MEMORY')).not.toContain('AUDITING');
    const auditing = debateMachine.rows.filter(({ to, from }) => to === 'AUDITING' && from !== 'AUDITING');
    expect(auditing.filter(({ actions }) => !actions.includes('audit'))).toEqual([]);
    const aborting = debateMachine.rows.filter(({ to }) => to === 'ABORTED').flatMap(({ actions }) => actions);
    expect(aborting.filter((action) => action === 'store_trace' || action === 'audit')).toEqual([]);
  });

  test.each<[string, DebateStateName, string, Partial<DebateFacts>, string[]]>([
    ['verifies the identity first of all', 'IDLE', 'START', {}, ['verify_identity']],
    [
      'snapshots before it runs',
      'RESOLVING',
      'RESOLVED',
      { securityValid: true, consensusHolds: true },
      ['take_snapshot', 'run_tasks'],
    ],
    [
      'counts a refinement',
      'MULTI_PASS_CHECK',
      'CHECKED',
      { wantsRefinement: true, mayRefine: true },
      ['count_refinement', 'ask_solution'],
    ],
    ['asks for a diagnosis', 'VALIDATING', 'VALIDATED', { mayRepair: true }, ['ask_diagnosis']],
    [
      'stops what runs and takes back',
      'EXECUTING',
      'CANCEL',
      { snapshotTaken: true },
      ['void_approval', 'stop', 'roll_back'],
    ],
    ['uses an approval once', 'AWAITING_APPROVAL', 'APPROVED', {}, ['use_approval', 'take_snapshot', 'run_tasks']],
    ['remembers what was taken back', 'ROLLING_BACK', 'ROLLED_BACK', {}, ['store_trace']],
  ])('%s, in %s on %s', (_, state, on, given, actions) => {
    const facts = { ...factsFor('IDLE')[0]!, ...given };
    expect(step(debateMachine, state, on as 'CANCEL', facts).actions).toEqual(actions);
  });
});
