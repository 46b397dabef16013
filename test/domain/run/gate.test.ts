import { approvalDigest } from '../../../src/domain/approval.js';
import { auditEntries } from '../../../src/domain/run/audit-entries.js';
import { feedbackRefusal, policyVersion } from '../../../src/domain/run/gate.js';
import { gateContent } from '../../../src/domain/run/gate-content.js';
import { stepWork } from '../../../src/domain/run/step-work.js';
import { runStatus } from '../../../src/domain/run/view.js';
import { given } from '../../support/given.js';
import { aGate, aStep, RunPlay, runBody, started } from '../../support/run-play.js';

const gate = { prompt: 'Good?', type: 'approval' as const };
const values = (at: RunPlay): string[] => at.request.options.map(({ value }) => value);

describe('a gate of a run', () => {
  test('on a step asks after it, with what the step has made', () => {
    const at = started([aStep('a', { gate }), aStep('b')]);
    expect(at.run.feedback).toEqual([]);
    at.done('the result');
    expect([at.state, at.steps]).toEqual(['awaiting_feedback', { a: 'awaiting_feedback', b: 'pending' }]);
    expect(at.request).toMatchObject({
      request_id: expect.stringMatching(/^fr-20261121-[0-9a-f]{6}$/),
      type: 'approval',
      prompt: 'Good?\n\nthe result',
      phase: 'build',
      step: 'a',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      expires_at: null,
    });
    expect(at.request.options.map(({ value, effect }) => `${value}: ${effect}`)).toEqual([
      'approve: goes on with build -> b: true',
      'request_changes: does build -> a again with the comment',
      'reject: cancels the run; what it has done stays',
    ]);
  });

  test('approves exactly what the status shows', () => {
    const at = started([aStep('a', { gate }), aGate('sure'), aStep('b')]).done({ made: 1 });
    const digest = (): string => approvalDigest(gateContent(runStatus(at.run)) ?? {}, policyVersion);
    expect(at.request.digest).toBe(digest());
    at.answer('approve', { digest: digest() });
    expect(at.request).toMatchObject({ step: 'sure', digest: digest() });
  });

  test('after another gate still shows, and is bound to, the work and not the answer that was given there', () => {
    const at = started([aStep('a'), aGate('one'), aGate('two'), aStep('b')])
      .done('the result')
      .answer('approve');
    expect([at.request.step, at.request.prompt]).toEqual(['two', 'Go on?\n\nthe result']);
    expect(gateContent(runStatus(at.run))).toMatchObject({ step: 'two', output: 'the result' });
  });

  test('shows and approves what is done next, with every argument, up to the next gate', () => {
    const steps = (argv: string[], last = 'echo') => [
      aStep('a', { gate }),
      aStep('b', { with: { argv, env: { MODE: 'x' } } }),
      aStep('c', { kind: 'refinement', gate }),
      aStep('d', { with: { argv: [last] } }),
    ];
    const asking = (...of: Parameters<typeof steps>): RunPlay => started(steps(...of)).done('made');
    const at = asking(['deploy', '--to', 'the shop']);
    expect(at.request.options[0]?.effect).toBe(
      'goes on with build -> b: deploy --to "the shop", then build -> c (refinement)',
    );
    expect(gateContent(runStatus(at.run))).toMatchObject({
      workspace: '/runs/run-1',
      next: [
        { name: 'b', does: { argv: ['deploy', '--to', 'the shop'], env: { MODE: 'x' } }, asks: null },
        { name: 'c', does: { task: 'Write it' }, asks: 'approval' },
      ],
      later: [['build', 'd', 'command']],
    });
    expect(asking(['deploy', '--to', 'elsewhere']).request.digest).not.toBe(at.request.digest);
    expect(asking(['deploy', '--to', 'the shop'], 'true').request.digest).toBe(at.request.digest);
    expect(runStatus(at.answer('approve').run).next).toEqual([]);
  });

  test('as a step of its own only asks, and offers no changes where nothing came before', () => {
    const at = started([aGate('sure'), aStep('a')]);
    expect([at.state, values(at), at.request.prompt]).toEqual(['awaiting_feedback', ['approve', 'reject'], 'Go on?']);
    at.answer('approve');
    expect([at.steps, at.tries]).toEqual([
      { sure: 'completed', a: 'in_progress' },
      { sure: 0, a: 1 },
    ]);
  });

  test('is different at each asking, and the same at every replay', () => {
    const ids = () => {
      const at = started([aStep('a', { gate }), aGate('sure')]).done();
      const first = at.request.request_id;
      at.answer('approve');
      return [first, at.request.request_id];
    };
    expect(new Set(ids()).size).toBe(2);
    expect(ids()).toEqual(ids());
  });

  test.each<[string, string, string]>([
    ['approve', 'in_progress', 'completed'],
    ['APPROVE', 'in_progress', 'completed'],
    [' Approve ', 'in_progress', 'completed'],
    ['request_changes', 'in_progress', 'in_progress'],
    ['reject', 'cancelled', 'cancelled'],
  ])('answered with "%s" leaves the run %s and its step %s', (response, state, step) => {
    const at = started([aStep('a', { gate }), aStep('b')])
      .done()
      .answer(response);
    expect([at.state, at.steps['a']]).toEqual([state, step]);
  });

  test('that is approved is used once, for exactly what was approved, and completes the run at its last step', () => {
    const at = started([aStep('a', { gate })])
      .done()
      .answer('approve', { comment: 'fine' });
    expect([at.state, at.run.feedback[0]]).toMatchObject([
      'completed',
      { state: 'answered', outcome: 'approved', used_at: '2026-11-21T00:00:00.000Z', answers: [{ comment: 'fine' }] },
    ]);
    expect(at.told('feedback_received')).toMatchObject([{ outcome: 'approved', answer: { provided_by: 'anna' } }]);
  });

  test('that needs two people goes on after the second, and counts nobody twice', () => {
    const at = started([aStep('a', { gate: { ...gate, k: 2, approvers: ['anna', 'ben'] } }), aStep('b')]).done();
    at.answer('approve').answer('approve', { provided_by: 'ANNA' });
    expect([at.state, at.run.feedback[0]]).toMatchObject(['awaiting_feedback', { outcome: 'pending', needed: 2 }]);
    at.answer('approve', { provided_by: 'carl' });
    expect(at.run.feedback[0]?.refused).toMatchObject([{ code: 'not_an_approver' }]);
    at.answer('approve', { provided_by: 'ben' });
    expect([at.state, at.steps]).toEqual(['in_progress', { a: 'completed', b: 'in_progress' }]);
  });

  test('asks others as well after a while, by the clock of the run', () => {
    const more = { approvers: ['anna'], escalate_after_ms: 60_000, escalate_to: ['ben'] };
    const at = started([aStep('a', { gate: { ...gate, ...more } })]).done();
    at.answer('approve', { provided_by: 'ben' });
    expect([at.state, at.run.feedback[0]?.refused_count]).toEqual(['awaiting_feedback', 1]);
    at.wait();
    expect(at.now).toBe(Date.UTC(2026, 10, 21) + 60_000);
    at.answer('approve', { provided_by: 'ben' });
    expect([at.state, at.run.feedback[0]]).toMatchObject(['completed', { escalated: true, outcome: 'approved' }]);
  });

  test('is not approved by who started the run', () => {
    const at = new RunPlay(runBody([aStep('a', { gate })]), { startedBy: 'anna' }).start().done();
    at.answer('approve');
    expect([at.state, at.run.feedback[0]?.refused[0]?.code]).toEqual(['awaiting_feedback', 'self_approval']);
    expect(at.answer('approve', { provided_by: 'ben' }).state).toBe('completed');
  });

  test('whose content has changed since is void once it is approved, and asked again', () => {
    const at = started([aStep('a', { gate }), aStep('b')]).done('as it was shown');
    const { request_id: first, digest } = at.request;
    at.work = {
      ...at.run,
      steps: at.run.steps.map((step, index) => (index === 0 ? { ...step, output: 'other' } : step)),
    };
    at.answer('approve');
    expect([at.state, at.steps]).toEqual(['awaiting_feedback', { a: 'awaiting_feedback', b: 'pending' }]);
    expect(at.run.feedback.map(({ state }) => state)).toEqual(['void', 'open']);
    expect(at.told('log').map(({ message }) => message)).toEqual([
      expect.stringContaining('The approval is void; ask again'),
    ]);
    expect([at.request.request_id === first, at.request.digest === digest]).toEqual([false, false]);
    expect(at.answer('approve').steps).toEqual({ a: 'completed', b: 'in_progress' });
  });

  test('and all that was asked beside it are evidence of a run that has ended, each under a key of its own', () => {
    const steps = [
      aStep('a', { gate: { ...gate, k: 2 } }),
      aGate('which', { type: 'choice', options: ['left', 'right'] }),
    ];
    const at = started(steps).done().answer('approve').answer('approve', { provided_by: 'ben' }).answer('LEFT');
    const entries = auditEntries(at.run, 0);
    expect(entries.map(({ type }) => type)).toEqual([
      'approval.requested',
      'approval.closed',
      'feedback.closed',
      'run.ended',
    ]);
    expect(new Set([...entries, ...auditEntries(at.run, 1)].map(({ key }) => key)).size).toBe(8);
    const digest = at.run.feedback[0]?.request.digest;
    expect(entries[0]?.data).toMatchObject({ digest, needed: 2, policy_version: policyVersion });
    expect(entries[1]?.data).toMatchObject({
      ...{ digest, outcome: 'approved', used_at: expect.any(String) },
      answers: [{ provided_by: 'anna' }, { provided_by: 'ben' }],
    });
    expect(entries[2]?.data).toMatchObject({ asked: 'choice', answers: [{ response: 'left' }] });
  });

  test('says in the result who rejected it and why', () => {
    const at = started([aStep('a', { gate })])
      .done()
      .answer('reject', { comment: 'too slow' });
    expect(at.result).toMatchObject({
      outcome: 'cancelled',
      reason: 'it was rejected by anna at build -> a: too slow',
    });
  });

  test('is not approved by who started the run, who may still reject it', () => {
    const at = new RunPlay(runBody([aStep('a', { gate })]), { startedBy: 'Anna' }).start().done();
    at.answer('approve');
    expect([at.state, at.run.feedback[0]?.refused[0]?.code]).toEqual(['awaiting_feedback', 'self_approval']);
    at.answer('approve', { provided_by: 'ben' });
    expect(at.state).toBe('completed');
  });

  test('on a step that was skipped asks nobody', () => {
    const at = started([aStep('a', { gate, on_error: 'ask' }), aStep('b')])
      .fails()
      .answer('skip');
    expect([at.state, at.steps]).toEqual(['in_progress', { a: 'skipped', b: 'in_progress' }]);
  });

  test('of type choice goes on with any option, also one that elsewhere would end the run, and keeps the answer', () => {
    const choice = { type: 'choice' as const, prompt: 'Where?', options: ['left', { value: 'abort', label: 'Stop' }] };
    const at = started([aGate('where', choice), aStep('a')]).answer('ABORT');
    expect([at.state, at.run.steps[0]]).toMatchObject(['in_progress', { state: 'completed', output: 'abort' }]);
  });

  test('of type input keeps the text, and takes no empty one', () => {
    const at = started([aGate('name', { type: 'input', prompt: 'Which name?' })]).answer('  ');
    expect([at.state, at.run.feedback[0]?.refused[0]?.code]).toEqual(['awaiting_feedback', 'no_response']);
    at.answer(' Shop ');
    expect([at.state, at.run.steps[0]?.output]).toEqual(['completed', 'Shop']);
  });

  test('offers what its definition lists, and nothing else', () => {
    const at = started([
      aStep('a', { gate: { ...gate, options: ['approve', { value: 'reject', label: 'No', effect: 'ends it' }] } }),
    ]).done();
    expect(at.request.options).toEqual([
      { value: 'approve', label: 'Approve', effect: 'completes the run' },
      { value: 'reject', label: 'No', effect: 'ends it' },
    ]);
    at.answer('request_changes');
    expect([at.state, at.run.feedback[0]?.refused[0]]).toMatchObject([
      'awaiting_feedback',
      { code: 'unknown_option', message: expect.stringContaining('choose approve, reject') },
    ]);
  });
});

describe('a request for changes', () => {
  test('does the step again with the comment, and asks anew about the new result', () => {
    const at = started([aStep('a', { kind: 'refinement', gate }), aStep('b')]).done('first');
    const first = at.request.request_id;
    at.answer('request_changes', { comment: 'shorter' });
    expect([at.state, at.tries, at.pending]).toMatchObject(['in_progress', { a: 2 }, { position: 0, attempt: 2 }]);
    const work = stepWork(at.run, 0, 2);
    expect(work).toMatchObject({
      setup: {
        id: 'run-1.build.a.2',
        webUiUrl: 'http://ui/run-1.build.a.2',
        task: expect.stringMatching(/^Write it\n\n.*:\n- shorter$/s),
      },
    });
    at.done('second');
    expect(at.request.request_id).not.toBe(first);
    at.answer('request_changes', { comment: 'warmer' });
    expect(stepWork(at.run, 0, 3)).toMatchObject({ setup: { task: expect.stringMatching(/- shorter\n- warmer$/) } });
    at.done('third').answer('approve');
    expect([at.steps, at.tries]).toEqual([
      { a: 'completed', b: 'in_progress' },
      { a: 3, b: 1 },
    ]);
  });

  test('at a gate step does the nearest step before it again, and every gate between asks anew', () => {
    const at = started([aStep('a'), aGate('one'), aGate('two'), aStep('b')])
      .done('x')
      .answer('approve');
    at.answer('request_changes', { comment: 'again' });
    expect([at.steps, at.tries]).toEqual([
      { a: 'in_progress', one: 'pending', two: 'pending', b: 'pending' },
      { a: 2, one: 0, two: 0, b: 0 },
    ]);
    at.done('y');
    expect([at.request.step, at.request.prompt]).toEqual(['one', 'Go on?\n\ny']);
    at.answer('approve').answer('approve');
    expect(at.steps).toEqual({ a: 'completed', one: 'completed', two: 'completed', b: 'in_progress' });
  });

  test('tells a command by a variable of its environment', () => {
    const at = started([aStep('a', { gate })])
      .done()
      .answer('request_changes', { comment: 'faster' });
    expect(stepWork(at.run, 0, 2)).toMatchObject({ kind: 'command', task: { env: { PARLEY_COMMENT: '- faster' } } });
  });

  test('says with each try what was asked of it: nothing where nobody said what, the same again where it is retried', () => {
    const at = started([aStep('a', { gate })])
      .done()
      .answer('request_changes', { comment: 'shorter' })
      .done();
    at.answer('request_changes').done().answer('request_changes', { comment: 'warmer' }).fails().answer('retry');
    expect(at.run.steps[0]?.attempts.map(({ comment }) => comment)).toEqual([
      null,
      'shorter',
      null,
      'warmer',
      'warmer',
    ]);
    expect(at.run.steps[0]?.comments).toEqual(['shorter', 'warmer']);
  });

  test('without a comment does the step again as it was', () => {
    const at = started([aStep('a', { gate })])
      .done()
      .answer('request_changes');
    expect([at.tries['a'], at.run.steps[0]?.comments]).toEqual([2, []]);
  });
});

describe('an answer to a run', () => {
  const asking = (): RunPlay => started([aStep('a', { gate }), aGate('sure'), aStep('b')]).done();

  test('that nobody asked for is counted and seen in the status, and changes nothing', () => {
    const at = started([aStep('a')]);
    const before = at.run;
    at.take({ type: 'FEEDBACK', given: given('approve') });
    expect(at.run).toEqual({ ...before, dropped: 1, unasked: [expect.anything()] });
    expect(runStatus(at.run).refused).toMatchObject([
      { provided_by: 'anna', response: 'approve', code: 'other_request', refused_at: '2026-11-21T00:00:00.000Z' },
    ]);
    for (let times = 0; times < 30; times += 1) at.take({ type: 'FEEDBACK', given: given('approve') });
    expect(runStatus(at.run).refused).toHaveLength(20);
    expect(feedbackRefusal(at.run, given('approve'), at.now)?.message).toBe(
      'run run-1 has asked nobody anything; it is in_progress.',
    );
  });

  test('counts once: the first valid one wins, and the other is told who and when', () => {
    const at = asking();
    const id = at.request.request_id;
    at.answer('approve');
    const late = given('reject', { request_id: id, provided_by: 'ben' });
    const open = at.request.request_id;
    expect(feedbackRefusal(at.run, late, at.now)).toEqual({
      code: 'closed',
      message: `${id} was answered with "approve" by anna at 2026-11-21T00:00:00.000Z; nothing was changed. Open now is ${open}: approve, request_changes, reject.`,
    });
    at.take({ type: 'FEEDBACK', given: late });
    expect([at.state, at.steps['sure'], at.run.feedback[0]?.refused_count]).toEqual([
      'awaiting_feedback',
      'awaiting_feedback',
      1,
    ]);
  });

  test('sent twice by one person is no fault, and does nothing twice', () => {
    const at = asking();
    const once = given('approve', { request_id: at.request.request_id });
    at.take({ type: 'FEEDBACK', given: once });
    const after = at.run;
    expect(feedbackRefusal(at.run, once, at.now)).toBeNull();
    at.take({ type: 'FEEDBACK', given: once });
    expect(at.run).toEqual(after);
  });

  test.each<[string, Parameters<typeof given>, string]>([
    ['with an unknown option', ['maybe'], 'unknown_option'],
    ['to a request that is none', ['approve', { request_id: 'fr-20261121-ffffff' }], 'other_request'],
    ['about other content', ['approve', { digest: 'f'.repeat(64) }], 'changed_content'],
  ])('%s is refused and kept, and the run waits on', (_, [response, more], code) => {
    const at = asking();
    const open = at.request.request_id;
    at.take({ type: 'FEEDBACK', given: given(response, { request_id: open, ...more }) });
    expect([at.state, at.request.request_id]).toEqual(['awaiting_feedback', open]);
    expect(runStatus(at.run).feedback[0]).toMatchObject({ state: 'open', refused: [{ code }], refused_count: 1 });
    expect(at.told('log')).toHaveLength(1);
  });
});

describe('a gate after a command', () => {
  test.each<[string, object, string]>([
    ['what it has written', { exit_code: 0, stdout: 'made\n', stderr: 'with care\n' }, 'Good?\n\nmade\nwith care'],
    ['the question alone where it wrote nothing', { exit_code: 0, stdout: '', stderr: ' \n' }, 'Good?'],
  ])('shows %s', (_, output, prompt) => {
    const at = started([aStep('a', { gate })]).done(output as never);
    expect(at.request.prompt).toBe(prompt);
  });
});

describe('a request that nobody answers in time', () => {
  const expiring = (more: object) => ({ ...gate, timeout_ms: 1_000, ...more });

  test('counts as a rejection of an approval, at its very end', () => {
    const at = started([aStep('a', { gate: expiring({}) })]).done();
    expect(at.request).toMatchObject({ expires_at: '2026-11-21T00:00:01.000Z', on_timeout: 'reject' });
    at.after(999).take({ type: 'TICK' });
    expect(at.state).toBe('awaiting_feedback');
    at.wait();
    expect([at.state, at.result.reason]).toEqual([
      'cancelled',
      `nobody answered ${at.run.feedback[0]?.request.request_id} in time at build -> a`,
    ]);
    expect(at.told('feedback_expired')).toMatchObject([{ counts_as: 'reject' }]);
  });

  test.each<[string, object, string]>([
    ['the option that a choice names', { type: 'choice', options: ['left', 'right'], on_timeout: 'right' }, 'right'],
    [
      'the option that a choice names, whatever its case',
      { type: 'choice', options: ['left', 'right'], on_timeout: 'RIGHT' },
      'right',
    ],
    ['the text that an input names', { type: 'input', on_timeout: 'the usual' }, 'the usual'],
  ])('counts as %s, and the run goes on', (_, more, output) => {
    const at = started([aGate('a', expiring(more)), aStep('b')]).wait();
    expect([at.state, at.run.steps[0]]).toMatchObject(['in_progress', { state: 'completed', output }]);
  });

  test('counts as a rejection also where nobody may reject', () => {
    const at = started([aGate('a', expiring({ options: ['approve'] }))]);
    expect(at.request.options.map(({ value }) => value)).toEqual(['approve']);
    expect(at.wait().state).toBe('cancelled');
  });

  test('is over also for an answer that comes before the timer does', () => {
    const at = started([aStep('a', { gate: expiring({}) })]).done();
    const late = given('approve', { request_id: at.request.request_id });
    at.after(1_000).take({ type: 'FEEDBACK', given: late });
    expect([at.state, at.run.feedback[0]?.state]).toEqual(['cancelled', 'expired']);
  });

  test('never comes where no time is set', () => {
    const at = started([aGate('a')])
      .after(1e12)
      .take({ type: 'TICK' });
    expect(at.state).toBe('awaiting_feedback');
    expect(() => at.wait()).toThrow('nothing is due');
  });
});
