import type { TaskReport } from '../../../src/contracts/execution.js';
import { outcomeOf, outcomeOfCommand, type StartedStatus } from '../../../src/domain/run/outcome.js';

const status = (kind: string, lifecycle: string, more: object): StartedStatus =>
  ({
    kind,
    lifecycle,
    error: null,
    result: null,
    spend: { tokens: 7, usd: '0.25' },
    ...(kind === 'debate' && { statements: [] }),
    ...more,
  }) as never;
const usage = { tokens: 7, usdMicros: 250_000 };

describe('the work of a step', () => {
  test.each<[string, object, unknown]>([
    ['session', { answer: { a: 1 } }, { a: 1 }],
    ['refinement', { output: 'text' }, 'text'],
    ['fan-out', { value: [1] }, [1]],
    ['team', { agents: [{ agent_id: 'a', state: 'COMPLETED', result: 'x', error: null }] }, 'x'],
    [
      'team',
      {
        agents: [
          { agent_id: 'a', state: 'COMPLETED', result: 'x', error: null },
          { agent_id: 'b', state: 'FAILED', result: null, error: null },
        ],
      },
      { a: 'x' },
    ],
    [
      'debate',
      { decision: 'PROCEED', outcome: 'succeeded', reason: 'r' },
      { decision: 'PROCEED', outcome: 'succeeded', reason: 'r' },
    ],
  ])('that is a %s hands on its answer and what it used', (kind, result, output) => {
    expect(outcomeOf(status(kind, 'completed', { result }))).toEqual({ outcome: 'completed', output, usage });
  });

  test.each([['blocked'], ['rolled_back'], ['rollback_incomplete'], ['aborted']])(
    'that is a debate which ended %s has failed, and may be tried again',
    (outcome) => {
      const result = { decision: 'REJECT', outcome, reason: 'the votes' };
      expect(outcomeOf(status('debate', 'completed', { result }))).toEqual({
        outcome: 'failed',
        fault: { code: 'ECONSENSUS', message: `the debate ended ${outcome}: the votes`, retryable: true },
        usage,
      });
    },
  );

  test.each<[string, boolean]>([
    ['EAGENTDOWN', true],
    ['ETIMEOUT', true],
    ['ECONSENSUS', true],
    ['ESEC', false],
    ['EBUDGET', false],
    ['invalid_request', false],
    ['forbidden', false],
  ])('that failed with %s is worth another try: %s', (code, retryable) => {
    const error = { code, message: 'why' };
    expect(outcomeOf(status('session', 'failed', { error, lanes: [{ reason: null }] }))).toEqual({
      outcome: 'failed',
      fault: { code, message: 'why', retryable },
      usage,
    });
  });

  test.each<[string, (string | null)[], string, boolean]>([
    ['no lane', ['EBUDGET', 'EBUDGET'], 'EBUDGET', false],
    ['not every lane', ['EBUDGET', 'EAGENTDOWN'], 'ECONSENSUS', true],
  ])('that is a session in which %s could be paid has failed with %j as %s', (_, codes, code, retryable) => {
    const lanes = codes.map((each) => ({ reason: { code: each } }));
    const error = { code: 'ECONSENSUS', message: 'no lane could be dispatched' };
    expect(outcomeOf(status('session', 'failed', { error, lanes }))).toMatchObject({ fault: { code, retryable } });
  });

  const lanes = (...reasons: (object | null)[]) => ({
    error: { code: 'ECONSENSUS', message: 'nobody answered' },
    lanes: reasons.map((reason) => ({ reason })),
  });
  const tasks = (ratio: number, ...reasons: (object | null)[]) => ({
    error: { code: 'EAGENTDOWN', message: 'too few' },
    barrier: { partial_mode: true, min_completion_ratio: 0.5, ratio },
    tasks: reasons.map((reason) => ({ state: reason ? 'FAILED' : 'RUNNING', reason })),
  });
  const agents = (...errors: object[]) => ({
    error: { code: 'EAGENTDOWN', message: 'no agent completed' },
    agents: errors.map((error) => ({ state: 'FAILED', error })),
  });
  /** `unheard`: why who of the five was not, in its only pass. */
  const debate = (unheard: Record<string, object>, result: object = {}) => ({
    lifecycle: 'completed',
    pass: 1,
    result: { decision: 'REJECT', outcome: 'blocked', reason: 'no votes', ...result },
    statements: ['analyst', 'solution', 'critic', 'security', 'optimizer'].map((role) => ({
      role,
      pass: 1,
      valid: !(role in unheard),
      failure: unheard[role] ?? null,
    })),
  });
  const spent = { code: 'EBUDGET' };
  const refused = { code: 'EAGENTDOWN', retryable: false };
  const down = { code: 'EAGENTDOWN', retryable: true };
  /** Of a tenant, whose budget can be given more. */
  const raisable = { code: 'EBUDGET', retryable: true };
  test.each<[string, string, object, boolean]>([
    ['session', 'each of its lanes says that it cannot help', lanes(refused, refused), false],
    ['session', 'no lane is within its budget', lanes(spent), false],
    ['session', 'one lane may be there again', lanes(spent, down), true],
    ['session', 'one lane said nothing of it', lanes(refused, { code: 'EAGENTDOWN' }), true],
    ['session', 'no lane is within the budget of its tenant', lanes(raisable, raisable), true],
    ['session', 'one lane would be within the budget of its tenant', lanes(spent, raisable), true],
    ['fan-out', 'too few tasks were within the budget of its tenant', tasks(0.2, raisable, raisable), true],
    ['debate', 'security was not within the budget of its tenant', debate({ security: raisable }), true],
    ['refinement', 'it was not within the budget of its tenant', { error: { ...raisable, message: 'used up' } }, true],
    ['team', 'no agent was within the budget of its tenant', agents(raisable), true],
    ['team', 'no agent was within its budget', agents(spent, spent), false],
    ['refinement', 'it was not within its budget', { error: { ...spent, message: 'used up' } }, false],
    ['fan-out', 'too few tasks were within its budget', tasks(0.2, spent, spent), false],
    ['fan-out', 'a task had not ended', tasks(0.2, spent, null), true],
    ['fan-out', 'enough tasks were done, and what was made of them failed', tasks(0.8, spent), true],
    ['fan-out', 'each of its agents says that it cannot help', tasks(0, refused, refused), false],
    ['fan-out', 'an agent may be there again', tasks(0, refused, down), true],
    ['debate', 'security could not be asked within its budget', debate({ security: spent, optimizer: spent }), false],
    ['debate', 'security’s agent says that it cannot help', debate({ security: refused }), false],
    ['debate', 'security’s agent may be there again', debate({ security: down, critic: refused }), true],
    ['debate', 'only another agent says that it cannot help', debate({ critic: refused }), true],
    ['debate', 'the scan vetoes', debate({ security: refused }, { decision: 'VETO' }), true],
    ['debate', 'a task failed', debate({ critic: refused }, { decision: 'PROCEED', outcome: 'rolled_back' }), true],
    ['refinement', 'its agent says that it cannot help', { error: { ...refused, message: 'no such model' } }, false],
    ['refinement', 'its agent may be there again', { error: { ...down, message: 'busy' } }, true],
    ['refinement', 'nobody said anything of it', { error: { code: 'EPROTO', message: 'no score' } }, true],
    ['debate', 'it was decided', debate({}), true],
  ])('that is a %s which failed as %s is worth another try: %j', (kind, _, more, retryable) => {
    expect(outcomeOf(status(kind, 'failed', more))).toMatchObject({ outcome: 'failed', fault: { retryable } });
  });

  test('that was cancelled has stopped', () => {
    expect(outcomeOf(status('session', 'cancelled', {}))).toEqual({ outcome: 'stopped', usage });
  });
});

describe('a command of a step', () => {
  const report = (more: Partial<TaskReport>): TaskReport =>
    ({
      outcome: 'succeeded',
      reason: null,
      unmet: [],
      command: { exit_code: 0, stdout_tail: 'out', stderr_tail: '' },
      ...more,
    }) as TaskReport;

  test('that succeeds hands on what it wrote', () => {
    const output = { exit_code: 0, stdout: 'out', stderr: '' };
    expect(outcomeOfCommand(report({}))).toMatchObject({ outcome: 'completed', output });
  });

  test.each<[string, Partial<TaskReport>, object]>([
    [
      'fails says why, with the end of its output',
      { outcome: 'failed', reason: 'It exited with 1 instead of 0.', command: { stderr_tail: 'tsc: no' } as never },
      { code: 'EAGENTDOWN', message: 'It exited with 1 instead of 0: tsc: no', retryable: true },
    ],
    [
      'leaves an assertion unmet says which',
      { outcome: 'failed', unmet: ['x is not there'], command: null },
      { message: 'x is not there', retryable: true },
    ],
    [
      'is refused is not worth another try',
      { outcome: 'refused', reason: 'rm -rf /', command: null },
      { code: 'ESEC', retryable: false },
    ],
  ])('that %s', (_, more, fault) => {
    expect(outcomeOfCommand(report(more))).toMatchObject({ outcome: 'failed', fault });
  });
});
