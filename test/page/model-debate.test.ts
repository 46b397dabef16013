import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import type { DebateDurableEvent, NumberedDebateEvent } from '../../src/contracts/debate-events.js';
import type { DebateStatus, Repair } from '../../src/contracts/debate-status.js';
import type { CommandReport, TaskReport } from '../../src/contracts/execution.js';
import type { Approval } from '../../src/contracts/feedback.js';
import { planSchema, type Task } from '../../src/contracts/plan.js';
import { inOrder } from '../../src/domain/debate/plan.js';
import { debateStatus } from '../../src/domain/debate/view.js';
import { answer, type DebateBody, DebatePlay, plan, report, unreadable } from '../support/debate-play.js';

interface Model {
  lanes: Map<string, { text: string }>;
  plan: { tasks: Task[]; fromPass: number } | null;
}
interface Round {
  round: number;
  repair: Repair | null;
  tasks: { task_id: string; report: TaskReport | null }[];
  ahead: Task[];
}
interface DebateModel {
  createModel: () => Model;
  takeStatus: (model: Model, status: DebateStatus) => void;
  takeEvent: (model: Model, event: NumberedDebateEvent) => void;
  takePartial: (model: Model, partial: { lane_id: string; attempt: number; offset: number; text: string }) => boolean;
  inOrder: (tasks: readonly Task[]) => Task[];
  spokenText: (streamed: string, field: string) => string;
  speaker: (model: Model) => { role: string; text: string } | null;
  openGate: (model: Model) => Approval | null;
  gateTasks: (status: DebateStatus, approval: Approval) => Task[];
  roundsOf: (model: Model) => Round[];
}
interface DebateSteps {
  stepsOf: (model: Model) => { name: string; stand: keyof typeof stands; note: string }[];
}
interface DebateWords {
  announcement: (model: Model) => string;
  describeEvent: (event: NumberedDebateEvent) => [string, string];
  commandLine: (argv: readonly string[]) => string;
  enforcement: (enforced: CommandReport['enforced']) => { held: string[]; notHeld: string[] };
  expectations: (task: Task) => string[];
  endOf: (command: Pick<CommandReport, 'exit_code' | 'signal' | 'limit'>) => string;
}

// The page is plain JavaScript for browsers: its pure modules load in Node as they are.
const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(resolve('src/page', file)).href)) as T;

let page: DebateModel;
let steps: DebateSteps;
let words: DebateWords;
beforeAll(async () => {
  page = await load('debate-model.js');
  steps = await load('debate-steps.js');
  words = await load('debate-words.js');
});

const numbered = ({ events }: DebatePlay): NumberedDebateEvent[] =>
  events.map((event: DebateDurableEvent, index) => ({ ...event, id: index + 1 }));

/** What the page knows of a debate that was played so far. */
const seen = (play: DebatePlay): Model => {
  const model = page.createModel();
  page.takeStatus(model, debateStatus(play.debate));
  for (const event of numbered(play)) page.takeEvent(model, event);
  return model;
};

const stands = { done: '✓', failed: '✗', now: '●', ahead: '○', skipped: '–' } as const;
const way = (play: DebatePlay): string =>
  steps
    .stepsOf(seen(play))
    .map(({ name, stand, note }) => `${stands[stand]} ${name}${note ? ` (${note})` : ''}`)
    .join(' ');

const opened = (body: DebateBody = {}): DebatePlay => new DebatePlay(body).open();
const twoTasks = { plan: plan('a', 'b') };
const executing = (body: DebateBody = {}): DebatePlay =>
  opened({ ...twoTasks, ...body })
    .pass()
    .snapshot();
const failing = (body: DebateBody = {}): DebatePlay => executing(body).ends('succeeded').ends('failed');
const gated = { approval: { required: true } };
const vetoed = (): DebatePlay => opened(twoTasks).pass({ security: { stance: 'against', confidence: 0.95 } });

const stories: Record<string, () => DebatePlay> = {
  'that has just begun': () => new DebatePlay().take({ type: 'START' }),
  'in its first round': () => opened(),
  'in another pass': () => opened().pass({ critic: { stance: 'against' }, optimizer: { stance: 'against' } }),
  'that was vetoed': () => vetoed().close(),
  'that waits for two people': () =>
    opened({ ...twoTasks, approval: { required: true, k: 2 } })
      .pass()
      .feedback('approve'),
  'whose first task runs': () => executing(),
  'that is being mended': () => failing(),
  'that was healed': () => failing().diagnose().repair(plan('c')).run().close(),
  'that was rolled back': () => failing().diagnose(null).rollBack().close(),
  'that was rolled back in part': () => failing().diagnose(null).undo('failed', 'gone').restore().close(),
  'of the wrong worker': () => {
    const play = new DebatePlay().take({ type: 'START' });
    play.identity({ code: 'ESEC', message: 'another project' });
    return play;
  },
  'that was cancelled while it spoke': () => opened().cancel(),
};

describe('the way of a debate on the page', () => {
  test.each<[string, string]>([
    [
      'that has just begun',
      '● Identity ○ Context ○ Rounds ○ Decision ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'in its first round',
      '✓ Identity ✓ Context ● Rounds (pass 1, analyst) ○ Decision ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'in another pass',
      '✓ Identity ✓ Context ● Rounds (pass 2, solution) ○ Decision ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'that was vetoed',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✗ Decision (veto) – Execution – Validation ✓ Memory ✓ Audit ✓ Done',
    ],
    [
      'that waits for two people',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ● Approval (1 of 2) ○ Execution ○ Validation ○ Memory ○ Audit ○ Done',
    ],
    [
      'that is being mended',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Execution ✓ Validation ● Repair ○ Memory ○ Audit ○ Done',
    ],
    [
      'that was healed',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Execution ✓ Validation ✓ Repair ✓ Memory ✓ Audit ✓ Done',
    ],
    [
      'that was rolled back in part',
      '✓ Identity ✓ Context ✓ Rounds (pass 1) ✓ Decision (proceed) ✓ Execution ✗ Validation ✓ Repair ✗ Rollback (incomplete) ✓ Memory ✓ Audit ✓ Done',
    ],
    [
      'of the wrong worker',
      '✗ Identity – Context – Rounds – Decision – Execution – Validation – Memory – Audit ✗ Aborted',
    ],
    [
      'that was cancelled while it spoke',
      '✓ Identity ✓ Context ✗ Rounds (pass 1) – Decision – Execution – Validation – Memory – Audit ✗ Aborted',
    ],
  ])('%s', (story, expected) => {
    expect(way(stories[story]!())).toBe(expected);
  });

  test('shows execution and validation ahead again while a repair runs', () => {
    expect(way(failing().diagnose().repair(plan('c')))).toContain('● Execution ○ Validation ✓ Repair');
  });
});

describe('what a screen reader is told of a debate', () => {
  test.each<[string, string]>([
    ['that has just begun', 'The worker is checked against the locks.'],
    ['in its first round', 'The analyst speaks in pass 1.'],
    ['in another pass', 'Consensus 65 % after pass 1. The solution speaks in pass 2.'],
    ['that was vetoed', 'Blocked: security is against the plan with 0.95, a veto from 0.9 on'],
    ['that waits for two people', 'An approval is asked for: Run this plan? Consensus 1.00 after 1 pass.'],
    ['whose first task runs', 'Consensus 100 % after pass 1. Task a runs.'],
    ['that is being mended', 'Consensus 100 % after pass 1. The critic looks for the cause.'],
    ['that was healed', 'Succeeded: all 2 tasks succeeded, and what they declare holds, after 1 repair'],
    ['of the wrong worker', 'Aborted: ESEC: another project'],
  ])('%s', (story, expected) => {
    expect(words.announcement(seen(stories[story]!())).replaceAll('\u202f', ' ')).toBe(expected);
  });
});

test('every durable event of these debates has words', () => {
  const told = Object.values(stories).flatMap((play) => numbered(play()));
  expect(new Set(told.map(({ event }) => event)).size).toBeGreaterThan(12);
  const sentences = told.map((event) => [event.event, ...words.describeEvent(event)]);
  expect(sentences.filter(([, kind, sentence]) => !kind || !sentence || /undefined|\[object/.test(sentence))).toEqual(
    [],
  );
});

describe('the words of a role on the page', () => {
  const whole = JSON.stringify({ stance: 'for', position: 'say "yes"\nto it – ü', issues: [] });

  test.each<[string, string]>([
    ['', ''],
    ['{"stance":"for","posi', ''],
    ['{"stance":"for","position":"say \\', 'say '],
    ['{"stance":"for","position":"say \\"y', 'say "y'],
    ['{"position":"\\u00', ''],
    ['{"position":"\\u00fc', 'ü'],
    ['```json\n{"position":"in a fence', 'in a fence'],
    ['{"position":"two\nlines', 'two\nlines'],
    ['I am for it', 'I am for it'],
    [whole, 'say "yes"\nto it – ü'],
  ])('of %j are %j', (streamed, expected) => {
    expect(page.spokenText(streamed, 'position')).toBe(expected);
  });

  test('grow with every character, and nothing of them is taken back', () => {
    const grown = Array.from(whole, (_, index) => page.spokenText(whole.slice(0, index + 1), 'position'));
    expect(grown.filter((text, index) => index > 0 && !text.startsWith(grown[index - 1]!))).toEqual([]);
  });

  test('begin anew when the role is asked again, and make way for its statement', () => {
    const play = opened();
    const model = seen(play);
    const says = (attempt: number, text: string) =>
      page.takePartial(model, { lane_id: 'analyst#1', attempt, offset: 0, text });
    says(1, 'what was that');
    expect(page.speaker(model)).toMatchObject({ role: 'analyst', text: 'what was that' });
    says(2, '{"position":"now');
    expect(page.speaker(model)).toMatchObject({ role: 'analyst', text: 'now' });
    const before = play.events.length;
    play.reply(unreadable('no JSON')).reply();
    for (const event of numbered(play).slice(before)) page.takeEvent(model, event);
    expect(page.speaker(model)).toMatchObject({ role: 'solution', text: '' });
    expect([...model.lanes]).toEqual([]);
  });
});

describe('the execution on the page', () => {
  const shown = (play: DebatePlay): string[] =>
    page
      .roundsOf(seen(play))
      .map(({ round, repair, tasks, ahead }) =>
        [
          `${round}`,
          repair && `of ${repair.failed_task}`,
          ...tasks.map((task) => `${task.task_id} ${task.report?.outcome ?? 'runs'}`),
          ...ahead.map((task) => `${task.task_id} ahead`),
        ]
          .filter(Boolean)
          .join(', '),
      );

  test.each<[string, () => DebatePlay, string[]]>([
    ['is nothing before it begins', () => opened(twoTasks).pass(), []],
    ['shows what runs and what comes after it', () => executing(), ['0, a runs, b ahead']],
    ['shows what failed', () => failing(), ['0, a succeeded, b failed']],
    [
      'shows a repair before the tasks that came of it',
      () => failing().diagnose().repair(plan('c', 'd')),
      ['0, a succeeded, b failed', '1, of b, c runs, d ahead'],
    ],
    [
      'shows what was not run any more',
      () =>
        executing({ plan: plan('a', 'b', 'c') })
          .ends('failed')
          .diagnose(null)
          .rollBack()
          .close(),
      ['0, a failed, b not_run, c not_run', '1, of a'],
    ],
  ])('%s', (_, play, expected) => {
    expect(shown(play())).toEqual(expected);
  });

  test('says what was enforced, and what was not', () => {
    const { held, notHeld } = words.enforcement({
      ...{ backend: 'unshare', network: true, filesystem: false, user: true, environment: true, time: true },
      ...{ cpu: true, memory: 'address_space', processes: 'none', output: true, tree: true },
    });
    expect(held).toContain('memory by address space');
    expect(notHeld).toEqual(['only the workspace can be written', 'processes']);
  });

  test.each<[Pick<CommandReport, 'exit_code' | 'signal' | 'limit'>, string]>([
    [{ exit_code: 0, signal: null, limit: null }, 'exit 0'],
    [{ exit_code: null, signal: 'SIGKILL', limit: null }, 'ended by SIGKILL'],
    [{ exit_code: null, signal: 'SIGKILL', limit: 'memory' }, 'ended at its limit of memory'],
  ])('says of %j how it ended: %s', (command, expected) => {
    expect(words.endOf(command)).toBe(expected);
  });

  test('says what a task declares', () => {
    const [task] = planSchema.parse({
      tasks: [
        {
          ...{ task_id: 't', argv: ['sh'] },
          expect: { exit_code: 3, files: ['a', { path: 'b', exists: false }, { path: 'c', contains: 'x' }] },
        },
      ],
    }).tasks;
    expect(words.expectations(task!)).toEqual(['exits with 3', 'a is there', 'b is not there', 'c contains "x"']);
  });

  test.each<[string[], string]>([
    [['npm', 'test'], 'npm test'],
    [['sh', '-c', "echo 'it is'"], `sh -c 'echo '\\''it is'\\'''`],
    [['printf', ''], "printf ''"],
  ])('writes %j as %s', (argv, expected) => {
    expect(words.commandLine(argv)).toBe(expected);
  });

  test('runs the plan in the order of the domain', () => {
    const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 });
    const plans = ids.chain((names) =>
      fc.tuple(
        ...names.map((task_id, index) =>
          // Only on ids before it, so that there is no circle; then shuffled.
          fc.subarray(names.slice(0, index)).map((depends_on) => ({ task_id, argv: ['do'], depends_on })),
        ),
      ),
    );
    fc.assert(
      fc.property(
        plans.chain((tasks) => fc.shuffledSubarray(tasks, { minLength: tasks.length })),
        (tasks) => {
          const parsed = planSchema.parse({ tasks }).tasks;
          expect(page.inOrder(parsed)).toEqual(inOrder(parsed));
        },
      ),
    );
  });
});

describe('the gate on the page', () => {
  test('is about the plan before the first task, and about the repair after a failure', () => {
    const play = opened({ ...twoTasks, ...gated }).pass();
    const asked = (): string[] => {
      const model = seen(play);
      return page.gateTasks(debateStatus(play.debate), page.openGate(model)!).map(({ task_id: id }) => id);
    };
    expect(asked()).toEqual(['a', 'b']);
    play.feedback('approve').snapshot().ends('succeeded').ends('failed').diagnose().repair(plan('c', 'd'));
    expect(asked()).toEqual(['c', 'd']);
  });

  test('is gone once it is answered', () => {
    const play = opened({ ...twoTasks, ...gated })
      .pass()
      .feedback('reject');
    expect(page.openGate(seen(play))).toBeNull();
  });
});

test('a statement with text that looks like a code stays as it is', () => {
  const play = opened().reply(answer({ position: '<b>bold</b>' }));
  const statements = numbered(play).filter(({ event }) => event === 'statement');
  expect(statements.map((event) => words.describeEvent(event)[1].replaceAll('\u202f', ' '))).toEqual([
    'analyst is for (90 %) in pass 1: <b>bold</b>',
  ]);
});

test('a report of a task that was repeated says so', () => {
  const event = {
    ...{ id: 1, event: 'task' as const },
    data: { at: '2026-11-21T00:00:00.000Z', stage: 'ended' as const, report: report('t', 'succeeded', { attempt: 2 }) },
  };
  expect(words.describeEvent(event)).toEqual(['task', 't succeeded at attempt 2']);
});
