import { closedRun } from '../../../src/domain/run/closed-run.js';
import { runStatus } from '../../../src/domain/run/view.js';
import { given } from '../../support/given.js';
import { aStep, type RunPlay, started } from '../../support/run-play.js';

const steps = (on_error: 'fail' | 'ask') => [aStep('a'), aStep('b', { on_error }), aStep('c')];
const failed = (on_error: 'fail' | 'ask', retryable = true): RunPlay =>
  started(steps(on_error)).done().fails({ retryable });
const values = (at: RunPlay): string[] => at.request.options.map(({ value }) => value);

describe('a step that fails for good', () => {
  test.each<['fail' | 'ask', boolean, string, string[]]>([
    ['fail', true, 'error', ['retry', 'abort']],
    ['fail', false, 'error', ['abort']],
    ['ask', true, 'awaiting_feedback', ['retry', 'skip', 'abort']],
    ['ask', false, 'awaiting_feedback', ['abort']],
  ])('with on_error %s, retryable %s, leaves the run in %s and offers %s', (onError, retryable, state, options) => {
    const at = failed(onError, retryable);
    expect([at.state, at.request.type, values(at)]).toEqual([state, 'error_resolution', options]);
    expect(at.request).toMatchObject({
      phase: 'build',
      step: 'b',
      prompt: 'build -> b has failed. EAGENTDOWN: it broke',
    });
    expect(at.run.error).toEqual({ code: 'EAGENTDOWN', message: 'it broke', phase: 'build', step: 'b', retryable });
    expect([at.steps, runStatus(at.run).lifecycle]).toEqual([{ a: 'completed', b: 'failed', c: 'pending' }, 'waiting']);
    expect(runStatus(at.run).waiting).toMatchObject({ for: 'person' });
  });

  test.each<['fail' | 'ask']>([['fail'], ['ask']])(
    'with on_error %s is done again on retry, and no other is',
    (onError) => {
      const at = failed(onError).answer('retry');
      expect([at.state, at.tries, at.run.error]).toEqual(['in_progress', { a: 1, b: 2, c: 0 }, null]);
      at.done().done();
      expect([at.state, at.tries, at.result.steps]).toEqual([
        'completed',
        { a: 1, b: 2, c: 1 },
        { total: 3, completed: 3, skipped: 0 },
      ]);
    },
  );

  test('is left out on skip, and the run goes on', () => {
    const at = failed('ask').answer('Skip');
    expect([at.state, at.steps, at.run.error]).toEqual([
      'in_progress',
      { a: 'completed', b: 'skipped', c: 'in_progress' },
      null,
    ]);
    at.done('end');
    expect(at.result).toMatchObject({
      reason: 'all 3 steps are done, 1 of them skipped',
      steps: { completed: 2, skipped: 1 },
    });
  });

  test('is the end of the run where it is the last and is skipped', () => {
    const at = started([aStep('a'), aStep('b', { on_error: 'ask' })])
      .done('made')
      .fails()
      .answer('skip');
    expect([at.state, at.result.output]).toEqual(['completed', 'made']);
  });

  test.each<['fail' | 'ask']>([['fail'], ['ask']])(
    'with on_error %s ends the run on abort, which says why',
    (onError) => {
      const at = failed(onError).answer('abort');
      expect([at.state, at.steps]).toEqual(['cancelled', { a: 'completed', b: 'failed', c: 'pending' }]);
      expect(at.result.reason).toBe('it was aborted by anna after EAGENTDOWN: it broke');
    },
  );

  test('is not skipped where the run was not asked to offer that', () => {
    const at = failed('fail').answer('skip');
    expect([at.state, at.run.feedback[0]?.refused]).toMatchObject(['error', [{ code: 'unknown_option' }]]);
  });

  test('is not done again where that could not help', () => {
    const at = failed('fail', false).answer('retry');
    expect([at.state, at.run.feedback[0]?.refused]).toMatchObject([
      'error',
      [{ message: expect.stringContaining('choose abort') }],
    ]);
  });

  test('that fails again is asked about again; the old answer does not count for it', () => {
    const at = failed('fail');
    const first = at.request.request_id;
    at.answer('retry').fails({ message: 'again' });
    expect(at.request.request_id).not.toBe(first);
    at.take({ type: 'FEEDBACK', given: given('retry', { request_id: first, provided_by: 'ben' }) });
    expect([at.state, at.tries['b'], at.run.feedback.map(({ state }) => state)]).toEqual([
      'error',
      2,
      ['answered', 'open'],
    ]);
  });

  test('keeps every try with its fault, for the status', () => {
    const at = failed('fail').answer('retry').done();
    expect(runStatus(at.run).phases[0]?.steps[1]?.attempts).toMatchObject([
      { attempt: 1, outcome: 'failed', error: { code: 'EAGENTDOWN', message: 'it broke' } },
      { attempt: 2, outcome: 'completed', error: null },
    ]);
  });
});

describe('a cancel of a run', () => {
  test('before it has begun ends it at once', () => {
    const at = started([aStep('a')]);
    expect(at.state).toBe('in_progress');
  });

  test('stops what is under way, waits for it, and begins nothing more', () => {
    const at = started(steps('ask'));
    const { id } = at.pending;
    at.cancel();
    expect([at.state, at.effects.at(-1)]).toEqual(['in_progress', { type: 'stop', of: id }]);
    at.stopped();
    expect([at.state, at.steps, at.result]).toMatchObject([
      'cancelled',
      { a: 'cancelled', b: 'pending', c: 'pending' },
      { outcome: 'cancelled', reason: 'it was cancelled', steps: { completed: 0 } },
    ]);
  });

  test('asked for twice stops once', () => {
    const at = started(steps('ask')).cancel().cancel();
    expect(at.effects.filter(({ type }) => type === 'stop')).toHaveLength(1);
  });

  test.each<[string, (at: RunPlay) => RunPlay]>([
    ['is done all the same', (at) => at.done()],
    ['fails meanwhile', (at) => at.fails()],
  ])('ends it also where the step %s, and asks nobody', (_, then) => {
    const at = then(started(steps('ask')).cancel());
    expect([at.state, at.run.feedback]).toEqual(['cancelled', []]);
  });

  test('while it waits for people makes the request void', () => {
    const at = failed('fail').cancel();
    expect([at.state, at.run.feedback[0]?.state, at.run.waiting]).toEqual(['cancelled', 'void', null]);
    at.take({ type: 'FEEDBACK', given: given('retry', { request_id: at.run.feedback[0]!.request.request_id }) });
    expect([at.state, at.run.dropped]).toEqual(['cancelled', 1]);
  });

  test('of the work of a step alone is a failure of the step', () => {
    const at = started(steps('fail')).stopped();
    expect([at.state, at.run.error]).toMatchObject(['error', { code: 'EPREEMPT', retryable: true, step: 'a' }]);
  });
});

describe('a run whose workflow was closed from outside', () => {
  const closedAt = '2026-11-21T01:00:00.000Z';
  test.each<[string, string, string]>([
    ['TERMINATED', 'cancelled', 'cancelled'],
    ['FAILED', 'failed', 'error'],
    ['TIMED_OUT', 'failed', 'error'],
  ])('as %s is %s in the state %s, and asks nobody anything', (how, lifecycle, state) => {
    const asking = runStatus(started([aStep('a', { gate: { prompt: 'Good?' } }), aStep('b')]).done().run);
    expect([asking.state, asking.next]).toMatchObject(['awaiting_feedback', [{ name: 'b' }]]);
    expect(closedRun(asking, how, closedAt)).toMatchObject({
      ...{ lifecycle, state, phase: null, step: null, next: [], waiting: null, ended_at: closedAt },
      phases: [{ steps: [{ state: 'cancelled' }, { state: 'pending' }] }],
      feedback: [{ state: 'void', outcome: 'void', closed_at: closedAt }],
      error: { message: expect.stringContaining(`(${how}) in state awaiting_feedback`), phase: 'build', step: 'a' },
    });
  });

  test('keeps why it had failed', () => {
    const { error, feedback } = closedRun(runStatus(failed('fail').run), 'TERMINATED', closedAt);
    expect([error, feedback]).toMatchObject([{ message: 'it broke', step: 'b' }, [{ state: 'void' }]]);
  });
});
