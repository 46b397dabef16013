import { InvalidTransitionError } from '../../../src/domain/errors.js';
import { runDetails, runStatus } from '../../../src/domain/run/view.js';
import { stepWork } from '../../../src/domain/run/step-work.js';
import { aGate, aStep, RunPlay, runBody, started } from '../../support/run-play.js';

describe('a run', () => {
  test('prepares its folder first, then does its steps one by one to the end of the last phase', () => {
    const phases = [{ steps: [aStep('a'), aStep('b')] }, { steps: [aStep('c')] }];
    const at = new RunPlay({ work_id: '124', phases });
    at.take({ type: 'START' });
    expect([at.state, at.pending]).toEqual([
      'in_progress',
      { type: 'prepare_workspace', id: 1, workspace: { from: 'nothing' } },
    ]);
    at.take({ type: 'PREPARED', id: 1, path: '/runs/run-1', branch: null });
    expect(at.pending).toEqual({ type: 'run_step', id: 2, position: 0, attempt: 1 });
    at.done('one');
    expect([at.steps, at.pending.id]).toEqual([{ a: 'completed', b: 'in_progress', c: 'pending' }, 3]);
    at.done('two').done('three');
    expect([at.state, at.run.pending, at.result]).toEqual([
      'completed',
      null,
      {
        outcome: 'completed',
        reason: 'all 3 steps are done',
        steps: { total: 3, completed: 3, skipped: 0 },
        output: 'three',
        branch: null,
      },
    ]);
    expect(at.effects.map(({ type }) => type)).toEqual(['prepare_workspace', 'run_step', 'run_step', 'run_step']);
  });

  test('says each state, each step, and the end, in order', () => {
    const at = started([aStep('a')]).done();
    expect(at.told('state').map(({ from, on, to }) => `${from} ${on} ${to}`)).toEqual([
      'pending START in_progress',
      'in_progress PREPARED in_progress',
      'in_progress STEP_SUCCEEDED completed',
    ]);
    expect(at.told('step').map(({ step, state, attempt }) => [step, state, attempt])).toEqual([
      ['a', 'in_progress', 1],
      ['a', 'completed', 1],
    ]);
    expect(at.told('waiting').map((waiting) => waiting?.detail ?? null)).toEqual([
      'the folder of the run is being prepared',
      'the command of build -> a runs',
      null,
    ]);
    expect(at.told('final')).toEqual([at.result]);
  });

  test('knows a try by the id of its work, once that has begun', () => {
    const at = started([aStep('a', { kind: 'refinement' })]);
    expect(runStatus(at.run).phases[0]?.steps[0]?.attempts[0]?.work_id).toBeNull();
    at.take({ type: 'BEGUN', id: at.pending.id, workId: 'run-1.build.a' });
    expect(runStatus(at.run).phases[0]?.steps[0]?.attempts[0]?.work_id).toBe('run-1.build.a');
    expect(runStatus(at.run).waiting?.detail).toBe('the refinement of build -> a, run-1.build.a');
  });

  test('counts what answers nothing that is under way, and changes nothing by it', () => {
    const at = started([aStep('a')]);
    const before = at.run;
    at.take({ type: 'STEP', id: 99, outcome: { outcome: 'completed', output: 1, usage: { tokens: 0, usdMicros: 0 } } });
    at.take({ type: 'PREPARED', id: at.pending.id, path: '/x', branch: null });
    at.take({ type: 'BEGUN', id: 99, workId: 'x' });
    expect(at.run).toEqual({ ...before, dropped: 3 });
  });

  test('takes no second start, and nothing after its end', () => {
    const at = started([aStep('a')]);
    expect(() => at.take({ type: 'START' })).toThrow(InvalidTransitionError);
    at.done();
    const end = at.run;
    at.take({ type: 'TICK' });
    expect(at.run).toEqual(end);
    at.take({ type: 'START' }).cancel();
    expect(at.run).toEqual({ ...end, dropped: 2 });
  });

  test('adds up what its steps use, and does not begin one that its budget does not hold', () => {
    const at = started([aStep('a', { kind: 'refinement' }), aStep('b')], { budget: { max_tokens: 100 } });
    at.done('one', 100);
    expect([at.state, at.steps, at.tries]).toEqual(['error', { a: 'completed', b: 'failed' }, { a: 1, b: 0 }]);
    expect(at.run.error).toEqual({
      code: 'EBUDGET',
      message: "the run's budget of 100 tokens is used up",
      phase: 'build',
      step: 'b',
      retryable: false,
    });
    expect(at.told('budget')).toEqual([
      expect.objectContaining({ action: 'refused', spend: { tokens: 100, usd: '0' } }),
    ]);
    expect(runStatus(at.run).spend).toEqual({ tokens: 100, usd: '0' });
  });

  test('gives a step no more than is left of its budget, and no more than the step asked for', () => {
    const limits = (own: object, of: object, used: number) => {
      const body = { ...aStep('b', { kind: 'refinement' }) };
      const at = started([aStep('a'), { ...body, with: { ...body.with, budget: own } } as never], { budget: of }).done(
        '',
        used,
      );
      const work = stepWork(at.run, 1, 1);
      return 'setup' in work ? work.setup.budget : null;
    };
    expect(limits({}, {}, 7)).toEqual({ maxTokens: null, maxUsdMicros: null });
    expect(limits({ max_tokens: 50 }, {}, 7)).toEqual({ maxTokens: 50, maxUsdMicros: null });
    expect(limits({ max_tokens: 50 }, { max_tokens: 40 }, 7)).toEqual({ maxTokens: 33, maxUsdMicros: null });
    expect(limits({ max_tokens: 20 }, { max_tokens: 40 }, 7)).toEqual({ maxTokens: 20, maxUsdMicros: null });
    expect(limits({}, { max_usd: 0.5 }, 7)).toEqual({ maxTokens: null, maxUsdMicros: 500_000 });
  });

  test('shows in words where it is, with every step', () => {
    const at = started([aStep('a'), aGate('sure')]).done();
    expect(runDetails(at.run).split('\n')).toEqual([
      '**awaiting_feedback**, work 124, 1 of 2 steps done, at build -> sure',
      `Waiting for person: approval ${at.request.request_id} at build -> sure: approve, request_changes, reject. Who can unblock: whoever may approve.`,
      '',
      '| phase | step | kind | state | tries |',
      '|---|---|---|---|---|',
      '| build | a | command | completed | 1 |',
      '| build | sure | gate | awaiting_feedback | 0 |',
    ]);
  });

  test('whose folder cannot be prepared is in error before its first step, and prepares it again on retry', () => {
    const at = new RunPlay(runBody([aStep('a', { on_error: 'ask' })])).take({ type: 'START' });
    at.take({ type: 'UNPREPARED', id: 1, fault: { code: 'EAGENTDOWN', message: 'no disk', retryable: true } });
    expect([at.state, at.run.error?.step, at.steps]).toEqual(['error', null, { a: 'pending' }]);
    expect([at.request.step, at.request.options.map(({ value }) => value)]).toEqual([null, ['retry', 'abort']]);
    at.answer('retry');
    expect([at.state, at.pending.type, at.run.error]).toEqual(['in_progress', 'prepare_workspace', null]);
    at.take({ type: 'PREPARED', id: at.pending.id, path: '/x', branch: 'b' }).done();
    expect([at.state, at.result.branch]).toEqual(['completed', 'b']);
  });
});
