import fc from 'fast-check';
import type { CommandReport } from '../../src/contracts/execution.js';
import { planSchema } from '../../src/contracts/plan.js';
import { inOrder } from '../../src/domain/debate/plan.js';
import { debateStatus } from '../../src/domain/debate/view.js';
import { type DebatePlay, plan, unreadable } from '../support/debate-play.js';
import { executing, failing, gated, numbered, opened, page, seen, twoTasks, words } from './debate-modules.js';

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

  test('shows what a health check said after the tasks of its round, at a checkpoint too', () => {
    const play = failing({ healing: { check: { argv: ['look'] } } });
    expect(page.roundsOf(seen(play)).map(({ check }) => check)).toEqual([null]);
    play.checked('failed').diagnose().repair(plan('c')).ends('failed').checked();
    const of = (model: ReturnType<typeof seen>) => page.roundsOf(model).map(({ check }) => check?.healthy);
    expect(of(seen(play))).toEqual([false, true]);
    expect(of(page.modelAt(debateStatus(play.debate), []))).toEqual([false, true]);
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
