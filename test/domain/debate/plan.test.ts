import { planSchema, type Plan } from '../../../src/contracts/plan.js';
import { inOrder, maxPlanCharacters, planFaults } from '../../../src/domain/debate/plan.js';
import { commandsDigest, repairedDigest, replacement } from '../../../src/domain/debate/repair.js';
import { openExecution, withReport } from '../../../src/domain/debate/execution.js';
import { nextUndo, openRollback, withUndone } from '../../../src/domain/debate/rollback.js';
import type { Execution } from '../../../src/domain/debate/state.js';
import { report } from '../../support/debate-play.js';

/** `b<a,c`: task b, which depends on a and c. */
const tasks = (...words: string[]): Plan =>
  planSchema.parse({
    tasks: words.map((word) => {
      const [id = '', needs = ''] = word.split('<');
      return { task_id: id, argv: ['do', id], depends_on: needs === '' ? [] : needs.split(',') };
    }),
  });
const ids = (plan: Plan): string =>
  inOrder(plan.tasks)
    .map(({ task_id: id }) => id)
    .join(' ');
const faults = (plan: Plan, done: string[] = []): string[] =>
  planFaults(plan, done).map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('the order of a plan', () => {
  test.each<[string[], string]>([
    [[], ''],
    [['a', 'b', 'c'], 'a b c'],
    [['c', 'b', 'a'], 'c b a'],
    [['a<c', 'b', 'c'], 'b c a'],
    [['d<b,c', 'b<a', 'c<a', 'a'], 'a b c d'],
    [['x', 'b<a', 'a', 'y'], 'x a b y'],
    [['a<gone', 'b'], 'a b'],
  ])('of %j is "%s": what a task depends on before it, else as listed', (words, order) => {
    expect(ids(tasks(...words))).toBe(order);
  });
  test('leaves out what depends on a circle', () => {
    expect(ids(tasks('a<b', 'b<a', 'c<b', 'd'))).toBe('d');
  });
});

describe('the faults of a plan', () => {
  test.each<[string[], string[]]>([
    [['a', 'b<a'], []],
    [[], []],
    [['a', 'a'], ['tasks.1.task_id: "a" is taken by tasks[0]']],
    [['a<z'], ['tasks.0.depends_on.0: "z" is no task of the plan; it has "a"']],
    [['a<a'], ['tasks.0.depends_on.0: "a" cannot depend on itself']],
    [
      ['a<b', 'b<a'],
      ['tasks.0.depends_on: is a circle, so that none of it can run first: "a" -> "b" -> "a"; leave one of these out'],
    ],
    [
      ['x<b', 'a<c', 'b<a', 'c<b'],
      [
        'tasks.2.depends_on: is a circle, so that none of it can run first: "b" -> "a" -> "c" -> "b"; leave one of these out',
      ],
    ],
    [
      ['a<b', 'b<a', 'c<d', 'd<c'],
      [
        'tasks.0.depends_on: is a circle, so that none of it can run first: "a" -> "b" -> "a"; leave one of these out',
        'tasks.2.depends_on: is a circle, so that none of it can run first: "c" -> "d" -> "c"; leave one of these out',
      ],
    ],
    [
      ['a', 'a<z,a', 'b<b'],
      [
        'tasks.1.task_id: "a" is taken by tasks[0]',
        'tasks.1.depends_on.0: "z" is no task of the plan; it has "a", "b"',
        'tasks.1.depends_on.1: "a" cannot depend on itself',
        'tasks.2.depends_on.0: "b" cannot depend on itself',
      ],
    ],
  ])('of %j are all named', (words, expected) => {
    expect(faults(tasks(...words))).toEqual(expected);
  });

  test('do not hold dependencies on tasks that have succeeded before', () => {
    expect(faults(tasks('b<a'), ['a'])).toEqual([]);
  });
  test('hold its sheer size', () => {
    const large = planSchema.parse({ tasks: [{ task_id: 'a', argv: ['x'], stdin: 'y'.repeat(maxPlanCharacters) }] });
    expect(faults(large).join()).toMatch(/^tasks: must be at most 200000 characters of JSON together; got 200\d\d\d/);
  });
});

/** An execution in which `done` have succeeded, in this order, and the next task has failed. */
const executed = (plan: Plan, ...done: string[]): Execution => {
  const [failing] = inOrder(plan.tasks).filter(({ task_id: id }) => !done.includes(id));
  let execution = openExecution(plan);
  for (const id of done) {
    const task = execution.tasks.find(({ task_id: of }) => of === id)!;
    execution = withReport(execution, task, report(id, 'succeeded'));
  }
  return failing ? withReport(execution, failing, report(failing.task_id, 'failed')) : execution;
};

describe('a repair', () => {
  const before = executed(tasks('a', 'b<a', 'c<b'), 'a');
  const replaced = (plan: Plan): string => {
    const result = replacement(before, plan);
    return 'faults' in result ? result.faults.join(' | ') : result.tasks.map(({ task_id: id }) => id).join(' ');
  };

  test.each<[string, Plan, string]>([
    ['puts its tasks in place of the failed one and what follows', tasks('b2', 'c<b2'), 'b2 c'],
    ['may lean on what has succeeded', tasks('b2<a'), 'b2'],
    ['may use the failed task’s id again', tasks('b'), 'b'],
    ['leaves out what has succeeded, where it says it again', tasks('a', 'b2<a'), 'b2'],
    ['runs in the order of its dependencies', tasks('d<e', 'e'), 'e d'],
  ])('%s', (_, plan, expected) => {
    expect(replaced(plan)).toBe(expected);
  });

  test.each<[string, Plan, string]>([
    ['no task', tasks(), 'the repair has no task to run; give what replaces the failed task'],
    ['succeeded tasks alone', tasks('a'), 'the repair has no task to run; give what replaces the failed task'],
    ['a dependency on nothing', tasks('d<c'), 'tasks.0.depends_on.0 "c" is no task of the plan; it has "d", "a"'],
    [
      'another command under the id of a succeeded task',
      planSchema.parse({
        tasks: [
          { task_id: 'a', argv: ['other'] },
          { task_id: 'b', argv: ['x'] },
        ],
      }),
      'task "a" has succeeded and is not run again; leave it out, or give the other command another id',
    ],
  ])('with %s is refused in words', (_, plan, expected) => {
    expect(replaced(plan)).toBe(expected);
  });

  test('has the commands of the plan before it when it would do the same again, whatever it calls its tasks', () => {
    const [original] = before.tried;
    const again = planSchema.parse({
      tasks: [
        { task_id: 'x', argv: ['do', 'b'] },
        { task_id: 'y', argv: ['do', 'c'] },
      ],
    });
    expect(repairedDigest(before, again.tasks)).toBe(original);
    expect(repairedDigest(before, tasks('c', 'b').tasks)).not.toBe(original);
    expect(repairedDigest(before, tasks('b').tasks)).not.toBe(original);
  });
  test.each([{ argv: ['do', 'b', 'x'] }, { cwd: 'sub' }, { env: { A: '1' } }, { stdin: 'y' }])(
    'with %j is another command',
    (change) => {
      const plain = planSchema.parse({ tasks: [{ task_id: 'b', argv: ['do', 'b'] }] });
      const other = planSchema.parse({ tasks: [{ task_id: 'b', argv: ['do', 'b'], ...change }] });
      expect(commandsDigest(other.tasks)).not.toBe(commandsDigest(plain.tasks));
    },
  );
  test.each([{ expect: { exit_code: 1 } }, { undo: { argv: ['u'] } }, { limits: { timeout_ms: 1 } }])(
    'that changes %j alone is the same command: it would do the same',
    (change) => {
      const plain = planSchema.parse({ tasks: [{ task_id: 'b', argv: ['do', 'b'] }] });
      const other = planSchema.parse({ tasks: [{ task_id: 'b', argv: ['do', 'b'], ...change }] });
      expect(commandsDigest(other.tasks)).toBe(commandsDigest(plain.tasks));
    },
  );
});

describe('a rollback', () => {
  test('undoes what succeeded, the last first, skips what has no undo, and never the failed task', () => {
    const plan = planSchema.parse({
      tasks: [
        { task_id: 'a', argv: ['a'], undo: { argv: ['ua'] } },
        { task_id: 'b', argv: ['b'] },
        { task_id: 'c', argv: ['c'], undo: { argv: ['uc'] } },
        { task_id: 'd', argv: ['d'], undo: { argv: ['ud'] } },
      ],
    });
    let rollback = openRollback(executed(plan, 'a', 'b', 'c'));
    const order: string[] = [];
    for (let next = nextUndo(rollback); next; next = nextUndo(rollback)) {
      order.push(next.task.task_id);
      rollback = withUndone(rollback, { task_id: next.task.task_id, outcome: 'failed', reason: 'x', command: null });
    }
    expect(order).toEqual(['c', 'a']);
  });
});
