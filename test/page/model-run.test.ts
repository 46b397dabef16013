import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { RunDurableEvent } from '../../src/contracts/run-events.js';
import type { RunStatus, RunStepStateName } from '../../src/contracts/run-status.js';
import { canonicalJson } from '../../src/domain/canonical-json.js';
import { runStatusExample } from '../../src/gateway/routes/run-examples.js';

interface RunModel {
  phasesOf: (status: RunStatus) => { name: string; stand: string; note: string }[];
  progress: (status: RunStatus) => { settled: number; total: number };
}
interface RunWords {
  promptParts: (prompt: string, output?: unknown) => { question: string; output: unknown };
  nextWords: (content: { next: object[]; later: object[] }) => string;
  announcement: (model: { status: RunStatus | null }) => string;
  describeEvent: (event: RunDurableEvent) => [string, string];
}
const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(resolve('src/page', file)).href)) as T;
const { phasesOf, progress } = await load<RunModel>('run-model.js');
const { promptParts, nextWords, announcement, describeEvent } = await load<RunWords>('run-words.js');

const at = '2026-01-01T00:00:00.000Z';
const step = (name: string, state: RunStepStateName): RunStatus['phases'][number]['steps'][number] => ({
  ...runStatusExample.phases[1]!.steps[0]!,
  name,
  state,
});
/** A run of the phases `a` and `b`, two steps each, in these states; over or not. */
const aRun = (states: RunStepStateName[], over: Partial<RunStatus> = {}): RunStatus => {
  const [one, two, three, four] = states.map((state, index) => step(`s${index}`, state));
  return {
    ...runStatusExample,
    phases: [
      { name: 'a', steps: [one!, two!] },
      { name: 'b', steps: [three!, four!] },
    ],
    phase: null,
    step: null,
    ...over,
  };
};

describe('the way of a run', () => {
  const over = { ended_at: at };
  test.each<[RunStepStateName[], string, Partial<RunStatus>]>([
    [['pending', 'pending', 'pending', 'pending'], 'a ahead 0, b ahead 0', {}],
    [['pending', 'pending', 'pending', 'pending'], 'a now 0, b ahead 0', { phase: 'a' }],
    [['completed', 'in_progress', 'pending', 'pending'], 'a now 1, b ahead 0', {}],
    [['completed', 'completed', 'awaiting_feedback', 'pending'], 'a done 2, b now 0', {}],
    [['completed', 'skipped', 'failed', 'pending'], 'a done 2, b failed 0', {}],
    [['skipped', 'skipped', 'completed', 'completed'], 'a skipped 2, b done 2', over],
    [['completed', 'completed', 'pending', 'pending'], 'a done 2, b skipped 0', over],
  ])('with steps that are %s is %s', (states, expected, more) => {
    const way = phasesOf(aRun(states, more)).map(({ name, stand, note }) => `${name} ${stand} ${note.split(' ')[0]}`);
    expect(way.join(', ')).toBe(expected);
  });

  test('counts what is left out as done', () => {
    expect(progress(aRun(['completed', 'skipped', 'failed', 'pending']))).toEqual({ settled: 2, total: 4 });
  });
});

describe('the question of a prompt', () => {
  test.each<[string, unknown]>([
    ['a text', 'blue'],
    ['a text of lines', 'a\n\nb'],
    ['members in any order', { z: 1, a: { d: [1, { y: 2, b: null }], c: 2 } }],
  ])('stands without %s that it ends with', (_, output) => {
    const text = typeof output === 'string' ? output : canonicalJson(output);
    expect(promptParts(`Good?\n\n${text}`, output)).toEqual({ question: 'Good?', output });
  });

  test('stands without what a command has written, which is shown by its streams', () => {
    const output = { exit_code: 0, stderr: 'careful\n', stdout: 'ok\n' };
    expect(promptParts('Good?\n\nok\ncareful', output)).toEqual({ question: 'Good?', output });
  });

  test.each<[string, unknown]>([
    ['a command that wrote nothing', { exit_code: 0, stderr: '', stdout: '\n' }],
    ['another output', 'red'],
    ['no output', null],
    ['nothing known of one', undefined],
  ])('stays as it is with %s', (_, output) => {
    expect(promptParts('Good?\n\nblue', output)).toEqual({ question: 'Good?\n\nblue', output: null });
  });

  test('says what follows', () => {
    expect(nextWords({ next: [], later: [] })).toBe('the run is complete');
    const make = { phase: 'b', name: 'make', kind: 'command', does: { argv: ['sh', '-c', 'make it'] } };
    const many = Array.from({ length: 7 }, (_, index) => ({ phase: 'b', name: `s${index}`, kind: 'gate', does: null }));
    expect(nextWords({ next: [make, ...many], later: [] })).toMatch(
      /^b → make: sh -c "make it", then b → s0 \(gate\), .* and 2 more$/,
    );
    expect(nextWords({ next: [make], later: [['b', 'c', 'command']] })).toMatch(/make it"; 1 more after that gate$/);
  });
});

describe('a run in words', () => {
  test.each<[string, Partial<RunStatus>, RegExp]>([
    ['what is asked', {}, /^release → sure waits for a person: Release it\?$/],
    ['what is under way', { state: 'in_progress', feedback: [] }, /^release → sure is under way\.$/],
    [
      'why it stands still',
      { state: 'error', error: { code: 'E', message: 'no', phase: 'release', step: 'sure', retryable: true } },
      /^release → sure has failed: no$/,
    ],
    [
      'how it ended',
      {
        result: {
          outcome: 'completed',
          reason: 'all done',
          steps: { total: 2, completed: 2, skipped: 0 },
          output: null,
          branch: null,
        },
      },
      /^Completed\. All done\.$/,
    ],
  ])('announces %s', (_, over, expected) => {
    expect(announcement({ status: { ...runStatusExample, ...over } })).toMatch(expected);
  });

  const of = { at, phase: 'build', step: 'test', kind: 'command', work_id: null, output: null } as const;
  const stateEvent = { at, machine: 'run' as const, actions: [], phase: 'build', step: 'test' };
  test.each<[RunDurableEvent, string]>([
    [
      { event: 'step', data: { ...of, state: 'in_progress', attempt: 2, error: null } },
      'step: build → test in progress, try 2',
    ],
    [
      {
        event: 'step',
        data: { ...of, state: 'failed', attempt: 1, error: { code: 'E', message: 'no', retryable: true } },
      },
      'step: build → test failed: no',
    ],
    [
      { event: 'state', data: { ...stateEvent, from: 'in_progress', to: 'error', on: 'STEP_FAILED' } },
      'state: in progress → error',
    ],
    [
      { event: 'state', data: { ...stateEvent, from: 'in_progress', to: 'in_progress', on: 'PREPARED' } },
      'state: prepared',
    ],
    [
      { event: 'feedback_expired', data: { at, request_id: 'fr-1', counts_as: 'reject' } },
      'person: nobody answered fr-1 in time; it counts as reject',
    ],
  ])('tells %j', (event, expected) => {
    expect(describeEvent(event).join(': ')).toBe(expected);
  });
});
