import { coordinatorStatus } from '../../../src/domain/coordinator/view.js';
import { nextDue } from '../../../src/domain/coordinator/step.js';
import { awaiting, CoordinatorPlay, done, failed } from '../../support/coordinator-play.js';

describe('a coordinator', () => {
  test('waits until every run is at a stop, and then aggregates once', () => {
    const at = new CoordinatorPlay(['1', '2', '3']);
    expect(at.state).toBe('TRACKING');
    at.says('1', awaiting()).says('2', { status: 'in_progress' });
    expect(at.state).toBe('TRACKING');
    at.says('3', { status: 'pending' });
    expect(at.state).toBe('WAITING');
    at.says('3', failed());
    expect([at.state, at.coordinator.reports.length]).toEqual(['WAITING', 0]);
    at.says('2', done);
    expect([at.state, at.coordinator.reports.map(({ report }) => report)]).toEqual(['PRESENTING', ['001-initial']]);
  });

  test('goes round until no run is pending, and keeps every report', () => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting(), '2': done });
    at.respond('#1: request_changes more tests');
    at.resumeAll().says('1', { status: 'in_progress' }).says('1', awaiting());
    expect(at.state).toBe('PRESENTING');
    at.respond('#1: approve');
    at.resumeAll().says('1', done);
    expect(at.state).toBe('COMPLETE');
    expect(at.coordinator.reports.map(({ report }) => report)).toEqual(['001-initial', '002-resumed', '003-resumed']);
    expect(at.coordinator.result).toMatchObject({
      outcome: 'completed',
      rounds: 3,
      aggregation: { report: '003-resumed' },
    });
  });

  test('asks again about runs that failed, not only about those that await feedback', () => {
    const at = new CoordinatorPlay(['1']).says('1', failed());
    expect(at.state).toBe('PRESENTING');
    at.respond('#1: retry');
    at.resumeAll().says('1', failed('still not'));
    expect([at.state, at.report.report]).toEqual(['PRESENTING', '002-resumed']);
  });

  test.each(['completed', 'cancelled'])('does not wait for a run that is %s after it was resumed', (status) => {
    const at = new CoordinatorPlay(['1']).says('1', failed());
    at.respond('#1: abort');
    at.resumeAll().says('1', { status });
    expect(at.state).toBe('COMPLETE');
  });

  test('leaves unanswered runs as they are, and asks them in the next report', () => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting(), '2': awaiting() });
    const unanswered = at.run('2').request;
    at.respond('#1: approve');
    at.resumeAll().says('1', done);
    expect([at.state, at.report.report]).toEqual(['PRESENTING', '002-resumed']);
    expect(at.run('2').request).toEqual(unanswered);
    expect(at.prompt).toContain('```\n#2: approve\n```');
  });

  test('resumes nobody for an empty answer', () => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting());
    expect(at.respond('\n').applied).toEqual([]);
    expect([at.state, at.done('resume').length]).toEqual(['PRESENTING', 0]);
  });

  test('applies what is right beside what is wrong, each by itself', () => {
    const at = new CoordinatorPlay(['1', '2', '3']).all({ '1': awaiting(), '2': failed(), '3': done });
    const answer = at.answered('#1: approve\n#2: skip\n#3: retry\n#4: retry');
    expect(answer.applied.map(({ work_id: id }) => id)).toEqual(['1']);
    expect(answer.warnings).toEqual([
      'line 3: #3 takes no answer now: it is completed; skipped.',
      'line 4: nothing here has the id #4; skipped.',
    ]);
    expect(answer.errors).toEqual([
      {
        work_id: '2',
        message: 'line 2: "skip" is not offered for #2; choose retry, abort.',
        valid: ['retry', 'abort'],
      },
    ]);
    expect(at.told('responses')).toEqual([{ at: '2026-11-21T00:00:00.000Z', ...answer }]);
  });

  test('takes further answers while answered runs go on', () => {
    const at = new CoordinatorPlay(['1', '2', '3']).all({ '1': awaiting(), '2': awaiting(), '3': awaiting() });
    at.respond('#1: approve');
    at.respond('#2: approve');
    expect(at.state).toBe('RESUMING');
    at.resumeAll();
    expect(at.respond('#3: nonsense').errors).toHaveLength(1);
    expect(at.state).toBe('MONITORING');
    at.respond('#3: reject');
    expect(at.done('resume').map(({ runId }) => runId)).toEqual(['many.run.1', 'many.run.2', 'many.run.3']);
    at.resumeAll().all({ '1': done, '2': done, '3': { status: 'cancelled' } });
    expect([at.state, at.coordinator.reports.length]).toEqual(['COMPLETE', 2]);
  });

  test.each([
    ['TRACKING', (at: CoordinatorPlay) => at],
    ['WAITING', (at: CoordinatorPlay) => at.says('1', { status: 'in_progress' })],
  ])('that is %s takes no answers yet, and says so', (state, play) => {
    const at = play(new CoordinatorPlay(['1']));
    expect(at.respond('#1: approve')).toEqual({
      applied: [],
      warnings: [],
      errors: [
        {
          work_id: null,
          message: `Nothing was applied: coordinator many is ${state} and takes answers once it has shown its first report.`,
          valid: [],
        },
      ],
      reprompt: null,
    });
    expect(at.state).toBe(state);
  });

  test('that is over takes no more answers, and counts what comes', () => {
    const at = new CoordinatorPlay(['1']).says('1', done);
    const { result } = at.coordinator;
    expect(at.respond('#1: approve').errors[0]?.message).toBe(
      'Nothing was applied: coordinator many is COMPLETE and takes no more answers.',
    );
    at.says('1', failed()).take({ type: 'CANCEL' }).take({ type: 'TICK' });
    expect([at.state, at.coordinator.dropped]).toEqual(['COMPLETE', 3]);
    expect(at.coordinator.result).toBe(result);
  });

  test('is started once', () => {
    expect(() => new CoordinatorPlay(['1']).take({ type: 'START' })).toThrow(
      'coordinator in TRACKING cannot take START; it accepts TRACKED, CANCEL.',
    );
  });
});

describe('a run that is answered by somebody else', () => {
  test('goes on beside the others, whose answers are still taken', () => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting(), '2': awaiting() });
    at.says('1', { status: 'in_progress' });
    expect(at.state).toBe('MONITORING');
    at.respond('#2: approve');
    at.resumeAll().all({ '1': done, '2': done });
    expect(at.state).toBe('COMPLETE');
  });

  test('and asks something else at once is asked in a new report', () => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting(), '2': awaiting() });
    at.says('1', awaiting({ prompt: 'And this?' }));
    expect([at.state, at.report.report]).toEqual(['PRESENTING', '002-resumed']);
    expect(at.prompt).toContain('> And this?');
  });

  test('and says nothing new makes no new report', () => {
    const at = new CoordinatorPlay(['1']).says('1', awaiting());
    const { request } = at.run('1');
    at.says('1', { status: 'awaiting_feedback', request });
    expect([at.state, at.coordinator.reports.length]).toEqual(['PRESENTING', 1]);
  });
});

describe('a word of a run', () => {
  test('that comes late or again changes nothing', () => {
    const at = new CoordinatorPlay(['1', '2']).all({ '1': awaiting(), '2': done });
    const { request } = at.run('1');
    at.respond('#1: approve');
    at.resumeAll().says('1', { status: 'awaiting_feedback', request, seq: 1 });
    expect([at.run('1').status, at.state, at.coordinator.dropped]).toEqual(['in_progress', 'MONITORING', 1]);
  });

  test('of no run of this coordinator changes nothing', () => {
    const at = new CoordinatorPlay(['1']);
    at.take({ type: 'UNREADABLE', runId: 'other', message: 'gone' });
    expect([at.state, at.coordinator.dropped]).toEqual(['TRACKING', 1]);
  });

  test('makes an unknown run known again', () => {
    const at = new CoordinatorPlay(['1', '2']).take({ type: 'UNREADABLE', runId: 'many.run.1', message: 'no answer' });
    at.says('2', awaiting()).says('1', { status: 'in_progress' });
    expect([at.run('1').reason, at.state]).toEqual([null, 'MONITORING']);
  });
});

describe('a run that cannot be read', () => {
  test('is unknown, and the others go on', () => {
    const at = new CoordinatorPlay(['1', '2']).take({ type: 'UNREADABLE', runId: 'many.run.1', message: 'not found' });
    at.says('2', done);
    expect(at.state).toBe('COMPLETE');
    expect(at.report.summary).toMatchObject({ total_runs: 2, completed: 1, unknown: 1 });
    expect(at.reported('1')?.reason).toBe('not found');
  });

  test.each(['completed', 'cancelled'])('but was %s stays so', (status) => {
    const at = new CoordinatorPlay(['1', '2']).says('1', { status });
    at.take({ type: 'UNREADABLE', runId: 'many.run.1', message: 'gone' });
    expect(at.run('1').status).toBe(status);
  });
});

describe('a coordinator with a limit for its waits', () => {
  const waiting = () =>
    new CoordinatorPlay(['1', '2'], { waitTimeoutMs: 60_000 }).all({ '1': done, '2': { status: 'in_progress' } });

  test('asks after exactly so long whether to wait on, as a request of its own', () => {
    const at = waiting().after(59_999).take({ type: 'TICK' });
    expect(at.state).toBe('WAITING');
    at.after(1).take({ type: 'TICK' });
    expect(at.state).toBe('ASKING');
    expect(at.told('feedback_requested').map(({ request }) => request)).toEqual([
      expect.objectContaining({
        request_id: expect.stringMatching(/^fr-20261121-[0-9a-f]{6}$/),
        type: 'choice',
        prompt: '1 of 2 runs have not come to a stop within 60000 ms: #2. Wait on?',
        options: [expect.objectContaining({ value: 'continue_waiting' }), expect.objectContaining({ value: 'abort' })],
        expires_at: null,
      }),
    ]);
  });

  test('waits as long again when told to, and asks anew', () => {
    const at = waiting().wait().after(1_000_000).decide('Continue_Waiting');
    expect(at.state).toBe('WAITING');
    const answeredAt = at.now;
    at.wait();
    expect([at.state, at.now - answeredAt]).toEqual(['ASKING', 60_000]);
    const [first, second] = at.coordinator.questions.map(({ request }) => request.request_id);
    expect(first).not.toBe(second);
  });

  test('ends with what is done when told to, and leaves the runs as they are', () => {
    const at = waiting().wait().decide('abort');
    expect(at.state).toBe('ABORTED');
    expect(at.coordinator.result).toMatchObject({
      outcome: 'aborted',
      aggregation: { report: '001-aborted', summary: { total_runs: 2, completed: 1, in_progress: 1 } },
    });
    expect(at.done('cancel_runs')).toEqual([]);
  });

  test('asks nothing any more when all runs have come to a stop in the meantime', () => {
    const at = waiting().wait().says('2', done);
    expect([at.state, at.coordinator.questions[0]?.state]).toEqual(['COMPLETE', 'void']);
    at.decide('abort');
    expect(at.coordinator.result?.outcome).toBe('completed');
  });

  test.each<[string, string, object, string]>([
    ['an unknown option', 'perhaps', {}, 'unknown_option'],
    ['another request', 'abort', { request_id: 'fr-20261121-ffffff' }, 'other_request'],
  ])('keeps an answer with %s as refused', (_, response, over, code) => {
    const at = waiting().wait().decide(response, over);
    expect([at.state, at.coordinator.questions[0]?.refused[0]?.code]).toEqual(['ASKING', code]);
  });

  test('asks as well while it waits for resumed runs, and goes on there', () => {
    const at = new CoordinatorPlay(['1', '2'], { waitTimeoutMs: 60_000 }).all({ '1': awaiting(), '2': awaiting() });
    at.take({ type: 'TICK' });
    expect(at.state).toBe('PRESENTING');
    at.respond('#1: approve');
    at.resumeAll().wait();
    expect(at.state).toBe('ASKING');
    at.decide('continue_waiting');
    expect(at.state).toBe('MONITORING');
  });

  test('takes an answer for a run in place of one to its question', () => {
    const at = new CoordinatorPlay(['1', '2'], { waitTimeoutMs: 60_000 }).all({ '1': awaiting(), '2': awaiting() });
    at.respond('#1: approve');
    at.resumeAll().wait();
    at.respond('#2: approve');
    expect([at.state, at.coordinator.questions[0]?.state]).toEqual(['RESUMING', 'void']);
    expect(at.resumeAll().answer.applied).toHaveLength(1);
    expect([at.state, nextDue(at.coordinator)]).toEqual(['MONITORING', at.now + 60_000]);
  });

  test('asks on after an answer that is none, which was no decision to wait', () => {
    const at = new CoordinatorPlay(['1', '2'], { waitTimeoutMs: 60_000 }).all({ '1': awaiting(), '2': awaiting() });
    at.respond('#1: approve');
    at.resumeAll().wait().after(5_000).respond('#2: nonsense');
    expect([at.state, at.coordinator.questions[0]?.state]).toEqual(['ASKING', 'open']);
    expect(at.answer.errors).toHaveLength(1);
    expect(at.decide('abort').state).toBe('ABORTED');
  });

  test('takes no answer for a run before the first report, and asks on', () => {
    const at = waiting().wait();
    expect(at.respond('#2: approve').errors[0]?.message).toContain('is ASKING and takes answers once');
    expect([at.state, at.coordinator.questions[0]?.state]).toEqual(['ASKING', 'open']);
  });

  test('without a limit never asks', () => {
    const at = new CoordinatorPlay(['1']).says('1', { status: 'in_progress' });
    at.after(10 ** 10).take({ type: 'TICK' });
    expect(at.state).toBe('WAITING');
  });

  test('reads runs again that are long under way, ever more seldom, and finds those that were closed from outside', () => {
    const at = new CoordinatorPlay(['1', '2', '3']);
    at.says('1', { status: 'in_progress' }).says('2', { status: 'in_progress' }).says('3', awaiting());
    const begun = at.now;
    const seen = at.done('track').length;
    expect(at.wait().now - begun).toBe(600_000);
    expect(
      at
        .done('track')
        .slice(seen)
        .map(({ runId, origin }) => [runId, origin]),
    ).toEqual([
      [at.run('1').runId, 'adopted'],
      [at.run('2').runId, 'adopted'],
    ]);
    at.take({ type: 'UNREADABLE', runId: at.run('1').runId, message: 'it was closed from outside (TERMINATED)' });
    expect([at.wait().now - begun, at.wait().now - begun]).toEqual([1_200_000, 2_400_000]);
    expect([at.state, at.run('1').status]).toEqual(['WAITING', 'unknown']);
    at.says('2', done);
    expect([at.state, at.report.summary]).toMatchObject([
      'PRESENTING',
      { unknown: 1, awaiting_feedback: 1, completed: 1 },
    ]);
  });
});

describe('a coordinator of a thousand runs', () => {
  test('is answered with one text, and every run has its own answer once', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => String(index));
    const at = new CoordinatorPlay(ids);
    for (const id of ids) at.says(id, Number(id) % 2 === 0 ? awaiting() : failed());
    expect(at.report.summary).toMatchObject({ total_runs: 1_000, awaiting_feedback: 500, error: 500 });
    const text = ids.map((id) => `#${id}: ${Number(id) % 2 === 0 ? 'approve' : 'retry'}`).join('\n');
    at.respond(text);
    expect(new Set(at.done('resume').map(({ runId }) => runId)).size).toBe(1_000);
    expect(at.respond(text).applied).toEqual([]);
    expect(at.resumeAll().answer.applied).toHaveLength(1_000);
    // The status is read often, and every answer is an event.
    expect([at.coordinator.history.length, coordinatorStatus(at.coordinator).history.length]).toEqual([1_000, 100]);
    for (const id of ids) at.says(id, done);
    expect([at.state, at.report.summary.completed]).toEqual(['COMPLETE', 1_000]);
  });
});

describe('a cancel', () => {
  test('ends the coordinator and the runs that it started, not those it adopted or that have ended', () => {
    const run = (workId: string, origin: 'started' | 'adopted') => ({ runId: workId, workId, origin, body: null });
    const runs = [run('a', 'started'), run('b', 'started'), run('c', 'adopted')];
    const at = new CoordinatorPlay([], { runs }).all({ a: done, b: awaiting(), c: awaiting() });
    at.take({ type: 'CANCEL' });
    expect([at.state, at.done('cancel_runs')]).toEqual(['CANCELLED', [{ type: 'cancel_runs', runIds: ['b'] }]]);
    expect([at.run('b').status, at.run('b').request]).toEqual(['cancelled', null]);
  });

  test('voids the question that is open', () => {
    const at = new CoordinatorPlay(['1'], { waitTimeoutMs: 1 }).says('1', { status: 'in_progress' }).wait();
    at.take({ type: 'CANCEL' });
    expect(at.coordinator.questions[0]?.state).toBe('void');
  });
});
