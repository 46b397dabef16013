import type { OpenRunBody } from '../../../src/contracts/run.js';
import { runStatusSchema } from '../../../src/contracts/run-status.js';
import { forkRun } from '../../../src/domain/run/fork.js';
import { spentOf } from '../../../src/domain/work-account.js';
import { openRequest, type RunState } from '../../../src/domain/run/state.js';
import { runStatus } from '../../../src/domain/run/view.js';
import { aGate, aStep, RunPlay, runBody, started } from '../../support/run-play.js';
import { deepFreeze } from '../../support/deep-freeze.js';

type Step = OpenRunBody['phases'][number]['steps'][number];

/** The fork of a checkpoint, up to where it stops by itself once its folder is there. */
const forked = (
  work: RunState,
  steps: Step[],
  { latest = work, ...more }: Partial<OpenRunBody> & { latest?: RunState } = {},
): RunPlay => {
  const play = new RunPlay(runBody(steps, more));
  play.now += 86_400_000;
  const fork = forkRun(work, { ...play.run.setup, id: 'fork-1' }, runStatus(latest), play.now);
  play.work = deepFreeze(fork.work);
  play.take(fork.first);
  return play.take({ type: 'PREPARED', id: play.pending.id, path: '/runs/fork-1', branch: null });
};
/** What it does first, or whom it asks what. */
const begins = ({ run }: RunPlay): string => {
  const { pending, setup } = run;
  if (pending?.type === 'run_step') return `does ${setup.steps[pending.position]?.name}`;
  return `${run.state}: ${openRequest(run)?.request.type}`;
};
const copies = ({ effects }: RunPlay): string | null => {
  const [first] = effects;
  return first?.type === 'prepare_workspace' ? (first.origin?.runId ?? null) : null;
};

const ask = (name: string): Step => aStep(name, { gate: { prompt: 'Good?' } });
const other = (name: string, more: Partial<Step> = {}): Step => aStep(name, { with: { argv: ['false'] }, ...more });
const think = (name: string, more: Partial<Step> = {}): Step => aStep(name, { kind: 'refinement', ...more });

describe('a fork of a run', () => {
  test.each<[string, RunPlay, Step[], string]>([
    ['in its second step', started([think('a'), think('b')]).done(), [think('a'), think('b')], 'does b'],
    ['with a step added', started([think('a')]).done(), [think('a'), think('b')], 'does b'],
    ['with a renamed step', started([think('a'), think('b')]).done(), [think('x'), think('b')], 'does x'],
    [
      'at a gate step',
      started([think('a'), aGate('b')]).done(),
      [think('a'), aGate('b')],
      'awaiting_feedback: approval',
    ],
    ['at the gate of a step', started([ask('a')]).done(), [ask('a')], 'awaiting_feedback: approval'],
    [
      'at the gate of a step, which is another',
      started([ask('a')]).done(),
      [aStep('a', { gate: { type: 'input', prompt: 'How?' } })],
      'awaiting_feedback: input',
    ],
    ['at a gate that is left out', started([ask('a'), think('b')]).done(), [aStep('a'), think('b')], 'does b'],
    [
      'at the gate of a step, which is to do something else',
      started([think('a'), think('b', { gate: { prompt: '?' } })])
        .done()
        .done(),
      [think('a'), other('b', { gate: { prompt: '?' } })],
      'does b',
    ],
    [
      'rejected at a gate',
      started([ask('a')])
        .done()
        .answer('reject'),
      [ask('a')],
      'awaiting_feedback: approval',
    ],
    ['in error', started([aStep('a')]).fails(), [aStep('a')], 'error: error_resolution'],
    [
      'in error, with on_error ask',
      started([aStep('a')]).fails(),
      [aStep('a', { on_error: 'ask' })],
      'awaiting_feedback: error_resolution',
    ],
    ['in error, with the step changed', started([think('a')]).fails(), [other('a')], 'does a'],
    [
      'aborted',
      started([aStep('a')])
        .fails()
        .answer('abort'),
      [aStep('a')],
      'error: error_resolution',
    ],
    [
      'with a step left out by a person',
      started([think('a', { on_error: 'ask' }), think('b')])
        .fails()
        .answer('skip'),
      [think('a', { on_error: 'ask' }), think('b')],
      'does b',
    ],
    ['before its folder was there', new RunPlay(runBody([aStep('a')])), [aStep('a')], 'does a'],
  ])('%s begins where that stood', (_, { run }, steps, first) => {
    const fork = forked(run, steps);
    expect(begins(fork)).toBe(first);
    expect(() => runStatusSchema.parse(runStatus(fork.run))).not.toThrow();
  });

  test('goes on by its own answers, with what was kept', () => {
    const at = started([ask('a'), aStep('b')]).done('one', 7);
    const fork = forked(at.run, [ask('a'), aStep('b')]);
    expect([fork.request.prompt, spentOf(fork.run.ledger).tokens]).toEqual(['Good?\n\none', 0]);
    expect(fork.request.request_id).not.toBe(at.request.request_id);
    fork.answer('approve').done('two');
    expect([fork.steps, fork.tries, fork.result.output]).toEqual([
      { a: 'completed', b: 'completed' },
      { a: 1, b: 1 },
      'two',
    ]);
  });

  test('does a failed step again, or leaves it out, as it is answered', () => {
    const at = started([aStep('a', { on_error: 'ask' }), aStep('b')]).fails();
    const steps = [aStep('a', { on_error: 'ask' as const }), aStep('b')];
    expect(begins(forked(at.run, steps).answer('retry'))).toBe('does a');
    expect(begins(forked(at.run, steps).answer('skip'))).toBe('does b');
  });

  test('still asks when its folder could be prepared at the second try only', () => {
    const at = started([aStep('a')]).fails();
    const play = new RunPlay(runBody([aStep('a')]));
    play.work = deepFreeze(forkRun(at.run, { ...play.run.setup, id: 'fork-1' }, runStatus(at.run), play.now).work);
    play.take({ type: 'START' });
    const fault = { code: 'conflict', message: 'git', retryable: true };
    play.take({ type: 'UNPREPARED', id: play.pending.id, fault }).answer('retry');
    play.take({ type: 'PREPARED', id: play.pending.id, path: '/runs/fork-1', branch: null });
    expect([begins(play), play.request.prompt]).toEqual([
      'error: error_resolution',
      'build -> a has failed. EAGENTDOWN: it broke',
    ]);
  });

  test('keeps the changes that were asked of the step that it does again', () => {
    const at = started([ask('a')])
      .done()
      .answer('request_changes', { comment: 'darker' });
    expect(forked(at.run, [ask('a')]).run.steps[0]?.comments).toEqual(['darker']);
    expect(forked(at.run, [other('a')]).run.steps[0]?.comments).toEqual([]);
  });

  describe('in a folder of its own', () => {
    const steps = [aStep('a'), think('b'), aStep('c'), aGate('d')];
    const afterA = started(steps).done();

    test.each<[string, RunPlay, Step[], string | null]>([
      ['copies that of the old run where a step that is kept has worked in it', afterA, steps, 'run-1'],
      ['begins anew where none has', started([think('b'), aStep('c')]).done(), [think('b'), other('c')], null],
      [
        'copies what a failed step has left, where it is asked about',
        started([aStep('a')]).fails(),
        [aStep('a')],
        'run-1',
      ],
      ['begins anew where the first step is another', started([aStep('a')]).fails(), [other('a')], null],
    ])('%s', (_, { run }, own, copied) => {
      expect(copies(forked(run, own))).toBe(copied);
    });

    test('begins from nothing where it is to work on something else', () => {
      const fork = forked(afterA.run, steps, { workspace: { path: '/srv/other' } });
      expect([begins(fork), copies(fork)]).toEqual(['does a', null]);
    });

    test.each<[string, RunState, RunState, Step[], RegExp]>([
      [
        'has been worked in since',
        afterA.run,
        started(steps).done().done().done().run,
        steps,
        /c has worked in its folder since then/,
      ],
      [
        'is worked in now',
        afterA.run,
        started(steps).done().done().run,
        steps,
        /build -> c is at work in its folder; wait/,
      ],
      [
        'holds more than the fork begins with',
        started(steps).done().done().done().run,
        started(steps).done().done().done().run,
        [aStep('a'), other('b'), aStep('c')],
        /holds what build -> c did, and the fork would begin before/,
      ],
      ['is not there yet', afterA.run, { ...afterA.run, workspace: null }, steps, /is not prepared yet/],
    ])('is refused where that of the old run %s', (_, work, latest, own, words) => {
      expect(() => forked(work, own, { latest })).toThrow(words);
    });
  });

  test('is refused where nothing is left to do', () => {
    const at = started([aStep('a')]).done();
    expect(() => forked(at.run, [aStep('a')])).toThrow(
      'run run-1 cannot be forked so: all its steps are done there; change or add a step, or fork it from an earlier checkpoint.',
    );
  });
});
