import type { Json } from '../../../src/contracts/frames.js';
import { spawnIn, type WorkerAnswer } from '../../../src/domain/fan-out/answers.js';
import { consensusOf, customValue, selectBest } from '../../../src/domain/fan-out/fan-in.js';
import { mergeAnswers, readDecisions } from '../../../src/domain/fan-out/merge-answers.js';

/** Answers in the order of completion; `orders` are the places of their tasks. */
const answers = (values: Json[], orders = values.map((_, index) => index)): WorkerAnswer[] =>
  values.map((value, index) => ({ taskId: `t${orders[index]}`, agentId: 'a', order: orders[index] ?? 0, value }));
const similarity = { method: 'similarity', similarity_threshold: 0.85 } as const;

describe('merging', () => {
  const given = answers([
    { a: 1, deep: { x: 1 } },
    { a: 2, deep: { x: 1, y: [1] } },
    { b: {}, deep: { y: [2] } },
  ]);
  test('goes into objects, and lets the first to complete win', () => {
    const { value, conflicts, provenance } = mergeAnswers(given, 'first_wins');
    expect(value).toEqual({ a: 1, deep: { x: 1, y: [1] }, b: {} });
    expect(conflicts).toEqual([
      { pointer: '/a', task_ids: ['t0', 't1'], chosen: 't0', by: 'first_wins' },
      { pointer: '/deep/y', task_ids: ['t1', 't2'], chosen: 't1', by: 'first_wins' },
    ]);
    expect(provenance.map(({ pointer, task_id }) => `${pointer} ${task_id}`)).toEqual([
      '/a t0',
      '/deep/x t0',
      '/deep/y t1',
      '/b t2',
    ]);
  });
  test('or the last', () => {
    expect(mergeAnswers(given, 'last_wins').value).toEqual({ a: 2, deep: { x: 1, y: [2] }, b: {} });
  });
  test('or whom the orchestrator says, and the first where it says nothing', () => {
    const { open } = mergeAnswers(given, 'orchestrator_decides');
    const said = {
      decisions: [
        { pointer: '/a', task_id: 't1' },
        { pointer: '/deep/y', task_id: 't0' },
      ],
    };
    const { decisions, notes } = readDecisions(said, open);
    const { value, conflicts } = mergeAnswers(given, 'orchestrator_decides', decisions);
    expect(value).toEqual({ a: 2, deep: { x: 1, y: [1] }, b: {} });
    expect(conflicts.map(({ by }) => by)).toEqual(['orchestrator', 'first_wins']);
    expect(notes).toHaveLength(2);
  });
  test('keeps what is no object under its task, and names members by JSON pointer', () => {
    const { value, provenance } = mergeAnswers(answers(['text', { 'a/b~c': 1 }]), 'first_wins');
    expect(value).toEqual({ t0: 'text', 'a/b~c': 1 });
    expect(provenance.map(({ pointer }) => pointer)).toEqual(['/t0', '/a~1b~0c']);
  });
  test('of nothing is empty', () => expect(mergeAnswers([], 'first_wins').value).toEqual({}));
  test('takes a member called __proto__ for a member', () => {
    const { value } = mergeAnswers(answers([JSON.parse('{"__proto__":{"x":1}}') as Json]), 'first_wins');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
  });
});

describe('selecting the best', () => {
  test('takes the highest score, of equals the earlier task, and names who has none', () => {
    const chosen = selectBest(answers([{ score: 0.9, by: 2 }, { score: 0.9, by: 1 }, 'none'], [2, 1, 0]));
    expect(chosen).toMatchObject({ value: { by: 1 }, provenance: [{ task_id: 't1' }] });
    expect(chosen.notes).toEqual(['without a score, and so not chosen: t0']);
  });
  test('needs a score', () => {
    expect(() => selectBest(answers(['a', { score: '1' }]))).toThrow(/none of t0, t1 has one/);
  });
});

test('consensus takes the answer of the most, with the agreement', () => {
  expect(consensusOf(answers(['red', 'blue', 'Blue.']), similarity)).toMatchObject({
    value: 'blue',
    agreement: 2 / 3,
    provenance: [{ task_id: 't1' }, { task_id: 't2' }],
  });
});

test('a function that returns no JSON is refused by name', () => {
  expect(() => customValue([], undefined, 'best')).toThrow(/function best returned nothing that is JSON/);
});

test.each<[Json, string | null]>([
  [{ fan_out: { tasks: [] } }, 'fan_out'],
  ['```json\n{"spawn_workers":{}}\n```', 'spawn_workers'],
  ['I would <spawn_sub_agent>{"id":"x"}</spawn_sub_agent>', 'spawn_sub_agent'],
  [{ note: 'fan_out' }, null],
  ['the fan_out is done', null],
])('in %j what asks for workers is %j', (answer, asked) => expect(spawnIn(answer)).toBe(asked));
