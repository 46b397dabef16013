import { debateStateSchema } from '../../../src/contracts/debate-status.js';
import { answer, DebatePlay, plan } from '../../support/debate-play.js';

const approval = { required: true };
const open = (): DebatePlay => new DebatePlay({ plan: plan('a', 'b') }).open();
const executing = (): DebatePlay => open().pass().snapshot();
const asked = (policy: { required: boolean; k?: number }): DebatePlay =>
  new DebatePlay({ plan: plan('a'), approval: policy }).open().pass();
const approved = (): DebatePlay => asked(approval).feedback('approve');
const failing = (): DebatePlay => executing().ends().ends('failed');

describe('a cancel', () => {
  test.each<[string, DebatePlay, string[]]>([
    ['IDLE', new DebatePlay(), []],
    ['VERIFYING_IDENTITY', new DebatePlay().take({ type: 'START' }), ['stop']],
    ['LOADING_CONTEXT', new DebatePlay().take({ type: 'START' }).identity(), ['stop']],
    ['ROUND_ANALYST', open(), ['stop']],
    ['ROUND_SOLUTION', open().reply(), ['stop']],
    ['ROUND_CRITIC', open().reply().reply(), ['stop']],
    ['ROUND_SECURITY', open().reply().reply().reply(), ['stop']],
    ['ROUND_OPTIMIZER', open().reply().reply().reply().reply(), ['stop']],
    ['AWAITING_APPROVAL', new DebatePlay({ plan: plan('a'), approval }).open().pass(), []],
    ['EXECUTING', open().pass(), ['stop']],
  ])('in %s, before the first task, ends it at once: nothing is remembered', (state, play, effects) => {
    expect(play.state).toBe(state);
    const before = play.effects.length;
    play.cancel();
    expect(play.state).toBe('ABORTED');
    expect(play.done.slice(before)).toEqual(effects);
    expect(play.result).toMatchObject({
      outcome: 'aborted',
      reason: 'the debate was cancelled',
      report: play.debate.execution === null ? null : { rollback: null },
      memory: null,
      audit: null,
    });
    expect(play.debate.error).toBeNull();
  });

  test('while a task runs stops it, waits for it, takes back what was done, and aborts with that in the report', () => {
    const play = executing().ends();
    play.cancel();
    expect(play.state).toBe('ROLLING_BACK');
    expect(play.done.slice(-2)).toEqual(['run b', 'stop']);
    expect(play.effects.at(-1)).toEqual({ type: 'stop', of: play.task.id });
    play.fault('EPREEMPT', 'it was stopped');
    expect(play.done.at(-1)).toBe('undo a');
    play.rollBack().audited();
    expect(play.state).toBe('ABORTED');
    expect(play.result).toMatchObject({
      decision: 'PROCEED',
      outcome: 'aborted',
      reason: 'the debate was cancelled',
      memory: null,
      audit: { seq: 7 },
      report: { valid: false, rollback: { restored: true, undone: [{ task_id: 'a' }] } },
    });
    expect(play.result.report?.tasks.map(({ task_id: id, outcome }) => [id, outcome])).toEqual([
      ['a', 'succeeded'],
      ['b', 'failed'],
    ]);
  });

  test('that comes as the task succeeds undoes that task as well', () => {
    const play = executing().ends();
    play.cancel().ends();
    expect(play.done.at(-1)).toBe('undo b');
    play.rollBack().audited();
    expect(play.result.report?.rollback?.undone.map(({ task_id: id }) => id)).toEqual(['b', 'a']);
  });

  test('runs nothing more, whatever comes of the task', () => {
    const play = executing().cancel().ends('failed').rollBack().audited();
    expect(play.done.filter((what) => what.startsWith('run'))).toEqual(['run a']);
    expect(play.done.some((what) => what.startsWith('diagnosis'))).toBe(false);
  });

  test('in SELF_HEALING stops the call and takes back', () => {
    const play = failing().cancel();
    expect(play.done.slice(-2)).toEqual(['stop', 'undo a']);
    play.rollBack().audited();
    expect(play.state).toBe('ABORTED');
    expect(play.debate.execution?.repairs).toMatchObject([{ givenUp: { because: 'cancelled' } }]);
  });

  test('in ROLLING_BACK lets it come to its end, and aborts', () => {
    const play = failing().diagnose(null);
    expect(play.state).toBe('ROLLING_BACK');
    play.cancel().rollBack().audited();
    expect(play.state).toBe('ABORTED');
    expect(play.done.filter((what) => what === 'restore_snapshot')).toHaveLength(1);
    expect(play.result).toMatchObject({ outcome: 'aborted', report: { rollback: { restored: true } } });
  });

  test('with a rollback that is incomplete says what a person has to do', () => {
    const play = failing().cancel().undo('failed', 'exit code 1').restore().audited();
    expect(play.result.outcome).toBe('aborted');
    expect(play.result.reason).toMatch(/^the debate was cancelled, and could not be rolled back entirely: task a /);
  });

  test.each<[string, DebatePlay]>([
    ['STORING_MEMORY', executing().run()],
    ['AUDITING', executing().run().fault().take({ type: 'TICK' })],
  ])('in %s comes too late: what is decided is remembered and audited', (state, play) => {
    expect(play.state).toBe(state);
    play.cancel();
    expect(play.state).toBe(state);
    expect(play.told('log').at(-1)?.message).toMatch(/^the cancel comes too late/);
    if (state === 'STORING_MEMORY') play.close();
    else play.fault();
    expect(play.state).toBe('DONE');
    expect(play.result.outcome).toBe('succeeded');
  });

  test.each<[string, DebatePlay, (string | null)[]]>([
    ['between approval and first task', approved(), ['debate.decided', 'approval.requested', 'approval.closed']],
    [
      'while one of two has approved',
      asked({ required: true, k: 2 }).feedback('approve'),
      ['debate.decided', 'approval.requested', 'approval.closed'],
    ],
    [
      'in the pass that a person asked for',
      asked(approval).feedback('request_changes', { comment: 'other' }),
      ['debate.decided', 'approval.requested', 'approval.closed'],
    ],
  ])('%s is recorded once, with what people answered', (_, play, types) => {
    play.cancel();
    expect(play.state).toBe('AUDITING');
    const entries = play.audit.entries;
    expect(entries.map(({ type }) => type).filter((type) => type !== 'debate.executed')).toEqual([
      ...types,
      'debate.ended',
    ]);
    expect(entries.at(-1)?.data).toEqual({ outcome: 'cancelled', reason: 'the debate was cancelled' });
    expect(entries.find(({ type }) => type === 'approval.closed')?.data['answers']).toHaveLength(1);
    play.cancel();
    expect(play.told('log').at(-1)?.message).toMatch(/^the cancel changes nothing: .* audit log/);
    play.audited();
    expect(play.done.filter((what) => what === 'audit')).toHaveLength(1);
    expect(play.done).not.toContain('store_trace');
    expect(play.debate).toMatchObject({ state: 'ABORTED', memory: null, error: null });
    expect(play.result).toMatchObject({ outcome: 'aborted', audit: { seq: 7 } });
  });

  test('in the pass that a person asked for leaves no decision on record: it was of another plan', () => {
    const play = asked(approval).feedback('request_changes', { comment: 'other' }).cancel();
    expect(play.audit.entries[0]).toMatchObject({ type: 'debate.decided', data: { decision: null, why: null } });
  });

  test('is not what a sandbox does that fails once the plan is approved, but that leaves a record too', () => {
    const play = approved().fault('unavailable', 'no sandbox is there');
    expect(play.audit.entries.map(({ type }) => type)).toContain('approval.closed');
    expect(play.audit.entries.at(-1)?.data).toMatchObject({
      outcome: 'aborted',
      reason: 'unavailable: no sandbox is there',
    });
    play.audited();
    expect([play.state, play.debate.cancelled, play.debate.error?.code]).toEqual(['ABORTED', false, 'unavailable']);
  });

  test('whose record cannot be written ends all the same, and says so', () => {
    const play = approved().cancel().fault();
    expect(play.state).toBe('ABORTED');
    expect(play.result).toMatchObject({ audit: null, notes: [expect.stringMatching(/^the audit log could not/)] });
  });

  test('leaves no record where it began before there was one', () => {
    const play = approved();
    play.work = { ...play.debate, abortsUnrecorded: true };
    play.cancel();
    expect([play.state, play.done.includes('audit')]).toEqual(['ABORTED', false]);
  });

  test('after the end changes nothing and is counted', () => {
    const play = executing().run().close();
    const { result } = play;
    play.cancel();
    expect(play.debate).toMatchObject({ state: 'DONE', dropped: 1, cancelled: false });
    expect(play.result).toEqual(result);
  });
});

describe('what answers nothing that is under way', () => {
  test('is counted and changes nothing', () => {
    const play = open();
    const before = play.debate;
    play.take({ type: 'ANSWER', id: 99, outcome: answer(), usage: { tokens: 5, usdMicros: 0 } });
    play.take({ type: 'SNAPSHOT', id: play.pending.id, snapshot: 's', digest: 'd' });
    play.take({ type: 'FAULT', id: 1, code: 'x', message: 'late' });
    expect(play.debate).toEqual({ ...before, dropped: 3 });
  });
  test('is not the passing of time', () => {
    const play = open().cancel().after(1_000).take({ type: 'TICK' });
    expect(play.debate.dropped).toBe(0);
  });
  test('twice is the same: an answer counts once', () => {
    const play = open();
    const { id } = play.ask;
    play.reply();
    play.take({ type: 'ANSWER', id, outcome: answer({ stance: 'against' }), usage: { tokens: 5, usdMicros: 0 } });
    expect(play.debate.dropped).toBe(1);
    expect(play.debate.statements).toHaveLength(1);
  });
});

test('every state that a debate rests in is told apart by these plays', () => {
  const passing = [
    'CLASSIFYING',
    'PLANNING',
    'MULTI_PASS_CHECK',
    'AGGREGATING',
    'CALCULATING_CONSENSUS',
    'ELO_DUELS',
    'RESOLVING',
    'BLOCKED',
    'VALIDATING',
    'SUCCEEDED',
  ];
  const over = ['DONE', 'ABORTED'];
  const played = [
    'IDLE',
    'VERIFYING_IDENTITY',
    'LOADING_CONTEXT',
    'ROUND_ANALYST',
    'ROUND_SOLUTION',
    'ROUND_CRITIC',
    'ROUND_SECURITY',
    'ROUND_OPTIMIZER',
    'AWAITING_APPROVAL',
    'EXECUTING',
    'SELF_HEALING',
    'ROLLING_BACK',
    'STORING_MEMORY',
    'AUDITING',
  ];
  expect([...passing, ...over, ...played].toSorted()).toEqual([...debateStateSchema.options].toSorted());
});
