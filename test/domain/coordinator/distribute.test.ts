import { awaiting, CoordinatorPlay, done, failed } from '../../support/coordinator-play.js';

const givenWith = (responses: string, more: { asOf: number | null; key: string | null }) => ({
  ...{ responses, providedBy: 'anna', authenticated: true, source: 'cli' as const },
  ...more,
});

describe('an answer of a person', () => {
  const answered = () => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting({ digest: 'a'.repeat(64) }), '2': done });
    const request = at.run('1').request!;
    at.events.length = 0;
    at.respond('#1: request_changes split the module');
    return { at, request };
  };

  test('is told as an event from parallel coordination, with who gave it through which channel', () => {
    const { at, request } = answered();
    expect(at.told('feedback_received')).toEqual([]);
    at.resumeAll();
    expect(at.told('feedback_received')).toEqual([
      {
        at: '2026-11-21T00:00:00.000Z',
        source: 'parallel_coordination',
        run_id: 'many.run.1',
        work_id: '1',
        phase: 'architect',
        step: 'review',
        message: 'Changes requested',
        metadata: {
          coordinator_id: at.report.coordinator_id,
          request_id: request.request_id,
          response: 'request_changes',
          provided_by: 'anna',
          source: 'cli',
        },
      },
    ]);
  });

  test('stands in the history once its run has taken it', () => {
    const { at, request } = answered();
    expect(at.coordinator.history).toEqual([]);
    at.resumeAll();
    expect(at.coordinator.history).toEqual([
      {
        at: '2026-11-21T00:00:00.000Z',
        run_id: 'many.run.1',
        work_id: '1',
        request_id: request.request_id,
        type: 'approval',
        response: 'request_changes',
        comment: 'split the module',
        user: 'anna',
        source: 'cli',
      },
    ]);
  });

  test('clears what the run waits for, and then resumes it with the answer bound to what was shown', () => {
    const { at, request } = answered();
    expect(at.run('1')).toMatchObject({ status: 'pending', request: null, error: null });
    expect(at.done('resume')).toEqual([
      {
        type: 'resume',
        runId: 'many.run.1',
        count: 1,
        given: {
          request_id: request.request_id,
          response: 'request_changes',
          comment: 'split the module',
          digest: 'a'.repeat(64),
          provided_by: 'anna',
          authenticated: true,
          source: 'cli',
        },
      },
    ]);
    expect(at.path.slice(-3)).toEqual(['PARSING', 'DISTRIBUTING', 'RESUMING']);
  });

  test('is what the answer says was applied', () => {
    const { at, request } = answered();
    expect(at.resumeAll().answer).toEqual({
      applied: [
        {
          work_id: '1',
          run_id: 'many.run.1',
          request_id: request.request_id,
          response: 'request_changes',
          comment: 'split the module',
        },
      ],
      warnings: [],
      errors: [],
      reprompt: null,
    });
  });

  test('for a failed run has the phase and step of its error, and a request made for it', () => {
    const at = new CoordinatorPlay(['1']).says('1', failed());
    at.answered('#1: abort');
    const [told] = at.told('feedback_received');
    expect(told).toMatchObject({ phase: 'build', step: 'compile', message: 'To be ended' });
    expect(at.done('resume')[0]?.given.request_id).toMatch(/^fr-20261121-[0-9a-f]{6}$/);
  });
});

describe('an answer that was given already', () => {
  const asksAgain = (): CoordinatorPlay => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting());
    at.answered('#1: approve');
    return at.says('1', awaiting());
  };

  test('counts once: not for what the same run asks next, until whoever answers says that they have read it', () => {
    const at = asksAgain();
    const open = at.run('1').request!.request_id;
    const { applied, warnings, errors } = at.respond('#1: approve');
    expect([applied, errors, warnings]).toEqual([
      [],
      [],
      [expect.stringMatching(/^#1: anna had answered "approve" to fr-.*, and this counts as the same again/)],
    ]);
    expect(at.respond('#1: approve', 'anna', { asOf: 1 }).errors).toEqual([
      {
        work_id: '1',
        message: `#1: ${open} is asked since report 2, and report 1 was read; look at it and answer it with as_of=2.`,
        valid: [open],
      },
    ]);
    expect(at.done('resume')).toHaveLength(1);
    at.respond('#1: approve', 'anna', { asOf: 2 });
    expect(at.resumeAll().answer.applied).toMatchObject([{ request_id: open }]);
  });

  test.each<[string, (at: CoordinatorPlay, open: string) => unknown]>([
    ['by its request', (at, open) => at.respond([{ work_id: '1', response: 'approve', request_id: open }])],
    ['by another person', (at) => at.respond('#1: approve', 'bert')],
    ['with another comment', (at) => at.respond('#1: approve but be quick')],
    ['otherwise', (at) => at.respond('#1: reject')],
  ])('is a new one where the open request is answered %s', (_, respond) => {
    const at = asksAgain();
    respond(at, at.run('1').request!.request_id);
    expect(at.done('resume')).toHaveLength(2);
  });

  test('with an Idempotency-Key is answered as it was then, and another one with this key is refused', () => {
    const at = asksAgain();
    const key = { asOf: 2, key: 'k' };
    at.respond('#1: approve', 'anna', key);
    const first = at.resumeAll().says('1', awaiting()).answer;
    at.take({ type: 'RESPONSES', caller: 7, given: givenWith('#1: approve', key) });
    at.take({ type: 'RESPONSES', caller: 8, given: givenWith('#1: reject', key) });
    expect(at.done('answered')).toEqual([
      { type: 'answered', caller: 7, answer: first },
      { type: 'answered', caller: 8, answer: expect.objectContaining({ applied: [] }) },
    ]);
    expect(at.done('answered')[1]?.answer.errors[0]?.message).toContain('was used for other answers');
    expect(at.done('resume')).toHaveLength(2);
  });

  test('with an Idempotency-Key, and is on its way, is answered with it', () => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting());
    const given = givenWith('#1: approve', { asOf: null, key: 'k' });
    at.take({ type: 'RESPONSES', caller: 1, given }).take({ type: 'RESPONSES', caller: 2, given }).resumeAll();
    expect(at.done('answered').map(({ caller, answer }) => [caller, answer.applied.length])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test.each([
    [
      'while its run is being resumed',
      false,
      'answered with "approve" by anna at 2026-11-21T00:00:00.000Z and being resumed',
    ],
    ['when its run goes on', true, 'in_progress, answered with "approve" by anna at 2026-11-21T00:00:00.000Z'],
  ])('and is sent again %s is applied once', (_, isResumed, status) => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting(), '2': awaiting() });
    at.respond('#1: approve');
    if (isResumed) at.resumeAll();
    expect(at.respond('#1: approve')).toEqual({
      applied: [],
      warnings: [`line 1: #1 takes no answer now: it is ${status}; skipped.`],
      errors: [],
      reprompt: null,
    });
    expect(at.state).toBe(isResumed ? 'MONITORING' : 'RESUMING');
    at.resumeAll();
    expect([at.done('resume').length, at.coordinator.history.length]).toEqual([1, 1]);
  });

  test('does not count for what its run asks next, which nobody has seen', () => {
    const at = new CoordinatorPlay(['1', '2', '3']).all({ '1': awaiting(), '2': awaiting(), '3': awaiting() });
    at.respond('#1: approve\n#2: approve');
    at.resumeAll().says('1', awaiting());
    expect(at.respond('#1: approve').warnings).toEqual([
      'line 1: #1 takes no answer now: it is awaiting_feedback with something new, which the next report will ask, answered with "approve" by anna at 2026-11-21T00:00:00.000Z; skipped.',
    ]);
    expect(at.done('resume')).toHaveLength(2);
  });

  test('is refused as stale where it names an older request', () => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting());
    const old = at.run('1').request!.request_id;
    at.respond('#1: request_changes');
    at.resumeAll().says('1', awaiting());
    const open = at.run('1').request!.request_id;
    const { applied, errors } = at.respond([{ work_id: '1', response: 'approve', request_id: old }]);
    expect([applied, errors.map(({ valid }) => valid)]).toEqual([[], [[open]]]);
  });
});

describe('a run that is to be resumed', () => {
  const resuming = () => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting(), '2': awaiting() });
    at.respond('#1: approve\n#2: approve');
    const requestId = at.run('1').resuming!.requestId;
    return { at, of: { runId: 'many.run.1', requestId } };
  };

  test('and cannot be is resume_failed, stays in the summary, and the others go on', () => {
    const { at, of } = resuming();
    at.take({ type: 'RESUME_FAILED', ...of, message: 'its workflow is gone' }).resumeAll();
    expect(at.state).toBe('MONITORING');
    at.says('2', done);
    expect(at.state).toBe('COMPLETE');
    expect(at.report.summary).toMatchObject({ total_runs: 2, completed: 1, resume_failed: 1 });
    expect(at.reported('1')).toMatchObject({ status: 'resume_failed', reason: 'its workflow is gone' });
    expect(at.told('log').map(({ message }) => message)).toEqual(['many.run.1: its workflow is gone']);
  });

  test('and was is not waited for any more, whatever it says after it could not be', () => {
    const { at, of } = resuming();
    at.take({ type: 'RESUME_FAILED', ...of, message: 'gone' }).says('1', { status: 'in_progress' });
    expect([at.run('1').status, at.coordinator.dropped]).toEqual(['resume_failed', 1]);
  });

  test('and has moved on stands where it says, also where the reply says that it failed', () => {
    const { at, of } = resuming();
    at.says('1', done).take({ type: 'RESUME_FAILED', ...of, message: 'no reply' });
    expect(at.run('1')).toMatchObject({ status: 'completed', resuming: null });
    expect([at.resumeAll().answer.errors.map(({ message }) => message), at.coordinator.history.length]).toEqual([
      ['#1: no reply'],
      1,
    ]);
  });

  test('and was answered by somebody else goes on with that answer', () => {
    const { at, of } = resuming();
    at.take({ type: 'ANSWERED_ELSEWHERE', ...of, message: 'was answered with "reject" by bert' });
    expect(at.run('1')).toMatchObject({ status: 'in_progress', resuming: null });
    expect(at.told('log')).toHaveLength(1);
    const { applied, errors } = at.resumeAll().answer;
    expect([applied.map(({ work_id: id }) => id), errors]).toEqual([
      ['2'],
      [{ work_id: '1', message: '#1: was answered with "reject" by bert', valid: [] }],
    ]);
    expect(at.coordinator.history.map(({ work_id: id }) => id)).toEqual(['2']);
  });

  test('and refuses the answer leaves no record of it, and is asked again with its own words', () => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting());
    at.respond('#1: approve');
    const requestId = at.run('1').resuming!.requestId;
    at.take({
      type: 'STILL_ASKS',
      runId: 'many.run.1',
      requestId,
      message: 'anna started this work and may not approve it',
    });
    expect([at.coordinator.history, at.told('feedback_received')]).toEqual([[], []]);
    expect(at.answer).toMatchObject({
      applied: [],
      errors: [
        {
          work_id: '1',
          message: '#1: anna started this work and may not approve it',
          valid: ['approve', 'request_changes', 'reject'],
        },
      ],
      reprompt: expect.stringContaining('anna started this work'),
    });
  });

  test('and needs more than one approval counts the answer, and says how many', () => {
    const { at, of } = resuming();
    at.take({ type: 'COUNTED', ...of, message: 'the answer counts: 1 of 2 approvals' });
    const { applied, warnings } = at.resumeAll().answer;
    expect([applied.length, warnings]).toEqual([2, ['#1: the answer counts: 1 of 2 approvals']]);
    expect(at.run('1').status).toBe('awaiting_feedback');
  });

  test('when the coordinator ends is told as unknown to whoever waits for it', () => {
    const { at } = resuming();
    at.take({ type: 'CANCEL' });
    expect(at.answer.errors.map(({ message }) => message)).toEqual([
      '#1: the coordinator has ended before the run said whether it took the answer; look at run many.run.1.',
      '#2: the coordinator has ended before the run said whether it took the answer; look at run many.run.2.',
    ]);
    expect(at.coordinator.openCalls).toEqual([]);
  });

  test('and still asks the same is asked again in the next report, and can be answered again', () => {
    const { at, of } = resuming();
    const { requestId } = of;
    at.take({ type: 'STILL_ASKS', ...of, message: 'anna started this work and may not approve it' }).resumeAll();
    expect(at.run('1')).toMatchObject({
      status: 'awaiting_feedback',
      request: { request_id: requestId },
      resuming: null,
    });
    expect(at.state).toBe('MONITORING');
    at.says('2', done);
    expect([at.state, at.report.report]).toEqual(['PRESENTING', '002-resumed']);
    at.respond('#1: approve', 'bert');
    expect(at.done('resume').at(-1)?.given).toMatchObject({ request_id: requestId, provided_by: 'bert' });
    at.resumeAll().says('1', done);
    expect(at.state).toBe('COMPLETE');
  });

  test('and still asks when it was answered, but has moved on since, stands where it says', () => {
    const { at, of } = resuming();
    at.says('1', { status: 'in_progress' }).take({ type: 'STILL_ASKS', ...of, message: 'more have to approve' });
    expect(at.run('1')).toMatchObject({ status: 'in_progress', request: null, resuming: null });
  });

  test('and cannot be read any more is unknown', () => {
    const { at, of } = resuming();
    at.take({ type: 'UNREADABLE', runId: of.runId, message: 'gone' }).take({ type: 'RESUMED', ...of });
    expect([at.run('1').status, at.coordinator.dropped]).toEqual(['unknown', 1]);
  });

  test('is not confused by the reply for another answer', () => {
    const { at, of } = resuming();
    at.take({ type: 'RESUMED', ...of, requestId: 'fr-20261121-ffffff' });
    expect([at.run('1').resuming?.requestId, at.coordinator.dropped]).toEqual([of.requestId, 1]);
  });
});
