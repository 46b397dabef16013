import { feedbackRefusal, policyVersion } from '../../../src/domain/debate/gate.js';
import { nextDue } from '../../../src/domain/debate/debate.js';
import { debateStatus } from '../../../src/domain/debate/view.js';
import { DebatePlay, deepCopy, plan, type DebateBody } from '../../support/debate-play.js';
import { given } from '../../support/given.js';

const gated = (approval: DebateBody['approval'] = {}, body: DebateBody = {}): DebatePlay =>
  new DebatePlay({ plan: plan('a', 'b'), approval: { required: true, ...approval }, ...body }).open().pass();
const gate = (play: DebatePlay) => play.debate.approvals.at(-1)!;
const options = (play: DebatePlay): string[] => gate(play).request.options.map(({ value }) => value);

describe('the human gate', () => {
  test('asks before anything runs, about exactly what would run', () => {
    const play = gated();
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(play.done.at(-1)).toBe('request_approval');
    expect(play.done).not.toContain('take_snapshot');
    const { request, needed, policy_version: version } = gate(play);
    expect(request.request_id).toMatch(/^fr-20261121-[0-9a-f]{6}$/);
    expect(request.prompt).toContain('- a: ["do","a"]; undo ["undo","a"]');
    expect(request.digest).toMatch(/^[0-9a-f]{64}$/);
    expect([needed, version]).toEqual([1, policyVersion]);
    expect(options(play)).toEqual(['approve', 'request_changes', 'reject']);
    expect(play.told('feedback_requested')).toMatchObject([{ request: { request_id: request.request_id } }]);
  });

  test('shows what a command is given, as far as there is something', () => {
    const undo = { argv: ['sh'], stdin: 'rm -r lib/new', env: { MODE: 'undo' } };
    const task = { task_id: 'a', argv: ['sh'], cwd: 'lib', stdin: 'mkdir new', undo };
    expect(gate(gated({}, { plan: { tasks: [task] } })).request.prompt).toContain(
      '- a: ["sh"] in "lib" given "mkdir new"; undo ["sh"] with {"MODE":"undo"} given "rm -r lib/new"',
    );
  });

  test('is not there unless it is required, nor for a plan of no tasks', () => {
    expect(new DebatePlay({ plan: plan('a') }).open().pass().state).toBe('EXECUTING');
    const empty = new DebatePlay({ approval: { required: true } })
      .open()
      .pass({ solution: { confidence: 0.9, plan: null } });
    expect(empty.path).not.toContain('AWAITING_APPROVAL');
  });

  test('is not asked for a plan that is blocked', () => {
    const play = new DebatePlay({ plan: plan('a'), approval: { required: true } }).open();
    play.pass({ security: { stance: 'against', confidence: 1 } });
    expect(play.path).not.toContain('AWAITING_APPROVAL');
  });

  test('approved runs the plan, and serves once', () => {
    const play = gated().after(1_000).feedback('Approve');
    expect(play.state).toBe('EXECUTING');
    expect(gate(play)).toMatchObject({ outcome: 'approved', used_at: '2026-11-21T00:00:01.000Z' });
    expect(play.told('feedback_received')).toMatchObject([
      { answer: { response: 'approve', provided_by: 'anna' }, outcome: 'approved' },
    ]);
    expect(play.snapshot().run().close().result.outcome).toBe('succeeded');
  });

  test('rejected blocks the plan, which is remembered', () => {
    const play = gated().feedback('reject', { comment: 'not before Monday' }).close();
    expect(play.result).toMatchObject({
      decision: 'REJECT',
      outcome: 'blocked',
      reason: 'anna rejected the plan: not before Monday',
      report: null,
      memory: { sqlite: true },
    });
    expect(play.told('decision').map(({ decision }) => decision)).toEqual(['PROCEED', 'REJECT']);
  });

  test('rejects when its time is over', () => {
    const play = gated({ timeout_ms: 5_000 });
    expect(nextDue(play.debate)).toBe(play.now + 5_000);
    play.wait().close();
    expect(play.result).toMatchObject({
      decision: 'REJECT',
      outcome: 'blocked',
      reason: 'nobody approved the plan until 2026-11-21T00:00:05.000Z',
    });
  });

  test('waits a day unless told otherwise, and does not end a moment before', () => {
    const play = gated();
    expect(play.after(86_399_999).take({ type: 'TICK' }).state).toBe('AWAITING_APPROVAL');
    expect(play.after(1).take({ type: 'TICK' }).state).toBe('STORING_MEMORY');
  });

  test('needs k different people', () => {
    const play = gated({ k: 2, approvers: ['anna', 'ben', 'carla'] });
    play.feedback('approve').feedback('approve');
    expect(play.state).toBe('AWAITING_APPROVAL');
    play.feedback('approve', { provided_by: 'dora' });
    expect(gate(play).refused).toMatchObject([{ code: 'not_an_approver', provided_by: 'dora' }]);
    expect(play.feedback('approve', { provided_by: 'ben' }).state).toBe('EXECUTING');
  });

  test('takes no approval of the one who started the work', () => {
    const play = new DebatePlay({ plan: plan('a'), approval: { required: true } }, {}, { startedBy: 'anna' })
      .open()
      .pass();
    play.feedback('approve');
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(gate(play).refused).toMatchObject([{ code: 'self_approval' }]);
    expect(play.feedback('approve', { provided_by: 'ben' }).state).toBe('EXECUTING');
  });

  test('asks others as well after a while', () => {
    const play = gated({ approvers: ['anna'], escalate_after_ms: 1_000, escalate_to: ['ben'] });
    play.feedback('approve', { provided_by: 'ben' });
    expect(play.state).toBe('AWAITING_APPROVAL');
    play.wait();
    expect(play.told('log').at(-1)?.message).toMatch(/^fr-20261121-\w{6} is asked of ben as well$/);
    expect(play.feedback('approve', { provided_by: 'ben' }).state).toBe('EXECUTING');
  });

  test('counts no approval of other content', () => {
    const play = gated().feedback('approve', { digest: '0'.repeat(64) });
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(gate(play).refused).toMatchObject([{ code: 'changed_content' }]);
    expect(play.feedback('approve', { digest: gate(play).request.digest }).state).toBe('EXECUTING');
  });

  test('asks anew when what was approved is not what would run', () => {
    const play = gated();
    const changed = deepCopy(play.debate);
    changed.plan.tasks[0]!.argv = ['rm', '-rf', 'everything'];
    play.work = changed;
    play.feedback('approve');
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(play.debate.approvals.map(({ outcome }) => outcome)).toEqual(['approved', 'pending']);
    expect(gate(play).request.prompt).toContain('["rm","-rf","everything"]');
    expect(play.done).not.toContain('take_snapshot');
  });

  test('keeps what it refused, with the reason, in the status', () => {
    const play = gated()
      .feedback('perhaps')
      .feedback('approve', { request_id: 'fr-20200101-000000', source: 'signal' });
    const [{ refused, refused_count: count } = { refused: [], refused_count: 0 }] = debateStatus(play.debate).feedback;
    expect(count).toBe(2);
    expect(refused).toMatchObject([
      { code: 'unknown_option', response: 'perhaps' },
      { code: 'other_request', source: 'signal' },
    ]);
  });
});

describe('a request for changes', () => {
  test('is one more pass, in which the solution is given the comment', () => {
    const play = gated().feedback('request_changes', { comment: 'split the first task' });
    expect(play.state).toBe('ROUND_SOLUTION');
    expect(play.debate).toMatchObject({ pass: 2, refinements: 1 });
    expect(play.ask.prompt).toContain('anna: split the first task');
    play.pass({ solution: { plan: plan('c') } });
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(play.debate.approvals.map(({ outcome }) => outcome)).toEqual(['changes_requested', 'pending']);
    expect(play.debate.approvals[0]?.request.request_id).not.toBe(gate(play).request.request_id);
    expect(play.feedback('approve').snapshot().task.task.task_id).toBe('c');
  });

  test('is judged anew: security may veto the changed plan', () => {
    const play = gated()
      .feedback('request_changes')
      .pass({ security: { stance: 'against', confidence: 0.9 } });
    expect(play.debate.decision?.decision).toBe('VETO');
    expect(play.state).toBe('STORING_MEMORY');
  });

  test('is offered within the rule of 3 alone, and refused with the reason after it', () => {
    const play = gated();
    for (let times = 0; times < 3; times += 1) play.feedback('request_changes', { comment: 'more' }).pass();
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(options(play)).toEqual(['approve', 'reject']);
    play.feedback('request_changes', { comment: 'once more' });
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(play.debate.refinements).toBe(3);
    expect(gate(play).refused.at(-1)).toMatchObject({
      code: 'unknown_option',
      message: `${gate(play).request.request_id} takes no request_changes: 3 of 3 further passes are used up (at most 3); answer approve or reject.`,
    });
    expect(play.feedback('approve').state).toBe('EXECUTING');
  });

  test('is not offered where the request allows no refinement, or the budget is used up', () => {
    expect(options(gated({}, { limits: { refinements: 0 } }))).toEqual(['approve', 'reject']);
    const play = new DebatePlay({ plan: plan('a'), approval: { required: true }, budget: { max_tokens: 50 } })
      .open()
      .pass();
    expect(options(play)).toEqual(['approve', 'reject']);
    play.feedback('request_changes');
    expect(gate(play).refused[0]?.message).toContain('what is left of the budget does not pay for another pass');
  });
});

describe('a repaired plan under a gate', () => {
  const repaired = (): DebatePlay =>
    gated().feedback('approve').snapshot().ends().ends('failed').diagnose().repair(plan('b2'));

  test('is asked about anew: the approval was for other commands', () => {
    const play = repaired();
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(options(play)).toEqual(['approve', 'reject']);
    expect(gate(play).request).toMatchObject({ phase: 'repair', step: 'repair 1' });
    expect(gate(play).request.prompt).toContain('- b2: ["do","b2"]');
    expect(gate(play).request.digest).not.toBe(play.debate.approvals[0]?.request.digest);
    play.feedback('approve').run().close();
    expect(play.result.outcome).toBe('succeeded');
    expect(play.done.filter((what) => what === 'take_snapshot')).toHaveLength(1);
  });

  test('that was changed after it was asked about is asked about again', () => {
    const play = repaired();
    const changed = deepCopy(play.debate);
    changed.execution!.tasks[0]!.argv = ['do', 'other'];
    play.work = changed;
    play.feedback('approve');
    expect(play.state).toBe('AWAITING_APPROVAL');
    expect(gate(play)).toMatchObject({ outcome: 'pending' });
  });

  test.each<[string, (play: DebatePlay) => DebatePlay]>([
    ['rejected', (p) => p.feedback('reject')],
    ['expired', (p) => p.wait()],
  ])('that is %s is rolled back', (word, story) => {
    const play = story(repaired());
    expect(play.state).toBe('ROLLING_BACK');
    play.rollBack().close();
    expect(play.result).toMatchObject({ decision: 'PROCEED', outcome: 'rolled_back' });
    expect(play.result.report?.faults).toContain(`repair 1 was given up: the repaired plan was ${word}`);
  });

  test('takes no request for changes, and says why', () => {
    const play = repaired().feedback('request_changes');
    expect(gate(play).refused[0]?.message).toContain('tasks have run already');
  });

  test('that is cancelled is rolled back and aborted', () => {
    const play = repaired().cancel();
    expect(gate(play)).toMatchObject({ outcome: 'void', state: 'void' });
    expect(play.rollBack().audited().state).toBe('ABORTED');
  });
});

describe('an answer that is checked before it is taken', () => {
  test('is refused where nobody was asked', () => {
    const refused = feedbackRefusal(new DebatePlay().open().debate, given('approve'), 0);
    expect(refused?.message).toBe('debate debate-1 has asked nobody for an approval; it is ROUND_ANALYST.');
  });
  test('is refused or not as it would be when it is taken', () => {
    const play = gated();
    const id = gate(play).request.request_id;
    expect(feedbackRefusal(play.debate, given('approve', { request_id: id }), play.now)).toBeNull();
    expect(feedbackRefusal(play.debate, given('maybe', { request_id: id }), play.now)?.code).toBe('unknown_option');
    expect(feedbackRefusal(play.debate, given('approve', { request_id: id }), play.now + 86_400_000)?.code).toBe(
      'closed',
    );
    play.feedback('approve');
    expect(feedbackRefusal(play.debate, given('reject', { request_id: id }), play.now)?.code).toBe('closed');
    expect(feedbackRefusal(play.debate, given('approve', { request_id: id }), play.now)).toBeNull();
  });
  test('that is a signal to a debate that has asked nothing is counted and logged', () => {
    const play = new DebatePlay().open().feedback('approve');
    expect(play.debate.dropped).toBe(1);
    expect(play.told('log').at(-1)?.message).toBe('feedback was refused: nobody has been asked');
  });
});
