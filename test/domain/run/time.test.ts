import { openRunSchema } from '../../../src/contracts/run.js';
import { runStatusSchema } from '../../../src/contracts/run-status.js';
import { closedRun } from '../../../src/domain/run/closed-run.js';
import type { StepOutcome } from '../../../src/domain/run/effects.js';
import { forkRun } from '../../../src/domain/run/fork.js';
import { isOver, nextDue } from '../../../src/domain/run/run.js';
import { stepWork } from '../../../src/domain/run/step-work.js';
import { runDetails, runStatus } from '../../../src/domain/run/view.js';
import { shifted } from '../../../src/domain/shift.js';
import { aGate, aStep, debateWith, type RunPlay, runBody, started } from '../../support/run-play.js';
import { wrongSeconds } from '../../support/wrong-seconds.js';

const noUse = { tokens: 0, usdMicros: 0 };
/** A run that may take a minute. */
const timed = (...steps: Parameters<typeof started>[0]): RunPlay => started(steps, { budget: { max_seconds: 60 } });
const time = (at: RunPlay) => {
  const { elapsed_ms: elapsed, left_ms: left } = runStatus(at.run).time ?? {};
  return [elapsed, left];
};
const ends = (at: RunPlay, outcome: StepOutcome, waitedMs = 0): RunPlay =>
  at.take({ type: 'STEP', id: at.pending.id, outcome, ...(waitedMs > 0 && { waitedMs }) });
const usedUp = "the run's budget of 60 seconds is used up";

describe('max_seconds of a run', () => {
  test.each(wrongSeconds)('cannot be %j', (max_seconds, why) => {
    const read = openRunSchema.safeParse({ ...runBody([aStep('a')]), budget: { max_seconds } });
    expect(read.error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['budget.max_seconds', expect.stringContaining(why)],
    ]);
  });
  test.each([1, 31_536_000])('can be %d', (max_seconds) => {
    expect(started([aStep('a')], { budget: { max_seconds } }).run.setup.budget.maxMs).toBe(max_seconds * 1000);
  });
  test('left out leaves state, effects and status as they are without a limit of time', () => {
    const at = started([aStep('a')]).after(5_000);
    expect(at.run.setup.budget).toEqual({ maxTokens: null, maxUsdMicros: null });
    expect(Object.keys(at.run)).not.toContain('steppedAt');
    expect([nextDue(at.run), runStatus(at.run).time]).toEqual([null, undefined]);
    expect(stepWork(at.run, 0, 1)).toEqual(at.run.setup.steps[0]?.work);
  });
});

describe('the time of a run', () => {
  test('counts from its start, and is told with what is left and when it is over', () => {
    const at = timed(aStep('a'), aStep('b')).after(20_000).done();
    expect(runStatus(at.run).time).toEqual({
      max_ms: 60_000,
      elapsed_ms: 20_000,
      left_ms: 40_000,
      as_of: '2026-11-21T00:00:20.000Z',
      ends_at: '2026-11-21T00:01:00.000Z',
    });
    expect(runStatusSchema.parse(runStatus(at.run)).time).toBeDefined();
    expect(runDetails(at.run)).toContain('Time: 20 seconds of 60 seconds.');
    at.after(5_000).done();
    expect([isOver(at.run), runStatus(at.run).time]).toEqual([
      true,
      expect.objectContaining({ elapsed_ms: 25_000, ends_at: null }),
    ]);
  });

  test('is the time limit of a command that begins, where its own is longer', () => {
    const at = timed(aStep('a'), aStep('b', { with: { argv: ['true'], limits: { timeout_ms: 1_000 } } }), aStep('c'));
    const timeout = (position: number): unknown => {
      const work = stepWork(at.run, position, 1);
      return work.kind === 'command' ? work.task.limits.timeout_ms : work.kind;
    };
    expect(timeout(0)).toBe(60_000);
    at.after(30_000).done();
    expect(timeout(1)).toBe(1_000);
    at.after(500).done();
    expect(timeout(2)).toBe(29_500);
  });

  test.each(['debate', 'refinement'] as const)('is the limit of a %s that begins, which ends itself', (kind) => {
    const at = timed(aStep('a'), aStep('b', { kind })).after(45_000).done();
    expect(stepWork(at.run, 1, 1)).toMatchObject({ kind, setup: { budget: { maxMs: 15_000 } } });
    expect(nextDue(at.run)).toBeNull();
    at.after(20_000).take({ type: 'TICK' });
    expect(at.effects.map(({ type }) => type)).not.toContain('stop');
  });

  test('is no limit of a debate whose own is less', () => {
    const own = timed(aStep('a', { kind: 'debate', with: { ...debateWith, budget: { max_seconds: 10 } } }));
    expect(stepWork(own.run, 0, 1)).toMatchObject({ setup: { budget: { maxMs: 10_000 } } });
    const alone = started([aStep('a', { kind: 'debate', with: { ...debateWith, budget: { max_seconds: 10 } } })]);
    expect(stepWork(alone.run, 0, 1)).toMatchObject({ setup: { budget: { maxMs: 10_000 } } });
  });

  test('does not count what the work of a step has waited for persons', () => {
    const at = timed(aStep('a', { kind: 'debate' }), aStep('b')).after(100_000);
    ends(at, { outcome: 'completed', output: 1, usage: noUse }, 90_000);
    expect([at.steps, time(at)]).toEqual([{ a: 'completed', b: 'in_progress' }, [10_000, 50_000]]);
  });

  test('that is over refuses the next step, as a budget that is gone does', () => {
    const at = timed(aStep('a'), aStep('b', { on_error: 'ask' })).after(60_000);
    ends(at, { outcome: 'completed', output: 1, usage: noUse });
    expect([at.state, at.steps, at.tries]).toEqual([
      'awaiting_feedback',
      { a: 'completed', b: 'failed' },
      { a: 1, b: 0 },
    ]);
    expect(at.run.error).toMatchObject({ code: 'EBUDGET', message: usedUp, retryable: false, step: 'b' });
    expect(at.request.options.map(({ value }) => value)).toEqual(['abort']);
    expect(at.told('budget')).toMatchObject([{ action: 'refused', message: usedUp }]);
  });

  test('that is over ends a command under way, once, and hears what became of it', () => {
    const at = timed(aStep('a')).wait();
    expect([at.now, at.effects.at(-1), nextDue(at.run)]).toEqual([
      Date.UTC(2026, 10, 21, 0, 1),
      { type: 'stop', of: at.pending.id },
      null,
    ]);
    at.after(1_000).take({ type: 'TICK' });
    expect(at.effects.filter(({ type }) => type === 'stop')).toHaveLength(1);
    expect(at.told('budget')).toMatchObject([{ action: 'ended', message: `${usedUp}; build -> a is ended` }]);
    at.stopped();
    expect([at.state, at.run.error?.code, at.run.error?.message]).toEqual([
      'error',
      'EBUDGET',
      `${usedUp}: the step was ended`,
    ]);
  });

  test('that is over ends work without a time of its own by its id, and what that used is spent', () => {
    const at = timed(aStep('a', { kind: 'session' }));
    at.take({ type: 'BEGUN', id: at.pending.id, workId: 'run-1.build.a' }).wait();
    expect(at.effects.at(-1)).toEqual({ type: 'end_work', workId: 'run-1.build.a' });
    ends(at, { outcome: 'stopped', usage: { tokens: 7, usdMicros: 0 } });
    expect([at.run.error?.code, runStatus(at.run).spend.tokens]).toEqual(['EBUDGET', 7]);
  });

  test('that is over as a step fails leaves nothing to try again', () => {
    const at = timed(aStep('a')).after(59_999).fails();
    expect(at.request.options.map(({ value }) => value)).toEqual(['retry', 'abort']);
    const late = timed(aStep('a')).after(60_000).fails();
    expect(late.run.error).toMatchObject({ code: 'EBUDGET', message: `${usedUp}: it broke`, retryable: false });
    expect(late.request.options.map(({ value }) => value)).toEqual(['abort']);
  });

  test('that is over as a step completes takes nothing from it', () => {
    const at = timed(aStep('a')).wait().done();
    expect([at.state, at.steps]).toEqual(['completed', { a: 'completed' }]);
  });

  test('that is over changes nothing about a cancel', () => {
    const at = timed(aStep('a')).cancel();
    expect(nextDue(at.run)).toBeNull();
    at.after(90_000).take({ type: 'TICK' }).stopped();
    expect([at.state, at.effects.filter(({ type }) => type === 'stop').length]).toEqual(['cancelled', 1]);
  });

  test('does not pass while people are asked, at a gate or about a failure', () => {
    const at = timed(aStep('a'), aGate('g'), aStep('b')).after(10_000).done();
    expect([at.state, runStatus(at.run).time?.ends_at, nextDue(at.run)]).toEqual(['awaiting_feedback', null, null]);
    at.after(9_000_000).answer('approve');
    expect(time(at)).toEqual([10_000, 50_000]);
    at.after(20_000).fails();
    at.after(9_000_000).answer('retry');
    expect([at.tries, time(at)]).toEqual([{ a: 1, g: 0, b: 2 }, [30_000, 30_000]]);
    expect(stepWork(at.run, 2, 2)).toMatchObject({ task: { limits: { timeout_ms: 30_000 } } });
    at.wait().stopped();
    expect([at.run.error?.code, time(at)]).toEqual(['EBUDGET', [60_000, 0]]);
  });

  test('stands still in a run whose workflow was closed from outside', () => {
    const status = closedRun(runStatus(timed(aStep('a')).run), 'TERMINATED', '2026-11-21T00:00:30.000Z');
    expect(status.time).toMatchObject({ max_ms: 60_000, ends_at: null });
    expect(runStatusSchema.parse(status)).toEqual(status);
  });

  test('goes on from a checkpoint as it was there, whenever that is restored', () => {
    const at = timed(aStep('a'), aStep('b')).after(10_000).done();
    const moved = shifted(at.run, 1_000_000);
    const [before, after] = [runStatus(at.run).time, runStatus(moved).time];
    expect(after).toMatchObject({ elapsed_ms: before?.elapsed_ms, left_ms: before?.left_ms });
    expect(Date.parse(after?.ends_at ?? '') - Date.parse(before?.ends_at ?? '')).toBe(1_000_000);
  });

  test('begins anew in a fork, whether it keeps steps or not', () => {
    const draft = (name: string) => aStep(name, { kind: 'refinement' });
    const at = timed(draft('a'), draft('b')).after(10_000).done();
    const fork = (...steps: Parameters<typeof started>[0]) => {
      const setup = { ...timed(...steps).run.setup, id: 'run-2' };
      const { work } = forkRun(at.run, setup, runStatus(at.run), at.now + 5_000_000);
      return [work.position, runStatus(work).time?.elapsed_ms];
    };
    expect(fork(draft('a'), draft('c'))).toEqual([1, 0]);
    expect(fork(draft('c'), draft('b'))).toEqual([0, 0]);
  });
});
