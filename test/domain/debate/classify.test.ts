import type { SimilarTrace } from '../../../src/contracts/memory.js';
import { planSchema } from '../../../src/contracts/plan.js';
import { classify } from '../../../src/domain/debate/classify.js';

const none = { tasks: [] };
const trace = (similarity: number | null, ...tags: [string, number][]): SimilarTrace => ({
  trace_id: '0'.repeat(32),
  work_id: 'w',
  kind: 'debate',
  task: 't',
  outcome: 'succeeded',
  decision: 'PROCEED',
  consensus: 1,
  verified: true,
  summary: '',
  tags: tags.map(([tag, score]) => ({ tag, score })),
  created_at: '2026-11-21T00:00:00.000Z',
  similarity,
});
const shown = (task: string, plan = none, similar: SimilarTrace[] = []): string =>
  classify(task, planSchema.parse(plan), similar)
    .map(({ tag, score }) => `${tag} ${score}`)
    .join(', ');

describe('classifying', () => {
  test.each([
    ['', ''],
    ['Say hello', ''],
    ['Add an index to the orders table', 'database 0.75, feature 0.5'],
    ['Fix the crash in the parser, a regression', 'bugfix 0.875'],
    ['FIX: crash', 'bugfix 0.75'],
    ['the testimony', ''],
  ])('"%s" gives the tags "%s", by words and not by parts of them', (task, tags) => {
    expect(shown(task)).toBe(tags);
  });

  test('looks at the commands of the request’s plan', () => {
    expect(shown('Go on', { tasks: [{ task_id: 'a', argv: ['npm', 'test'] }] } as never)).toBe(
      'dependencies 0.5, testing 0.5',
    );
  });

  test('takes half of what similar traces were tagged with, by their similarity', () => {
    expect(shown('Go on', none, [trace(0.8, ['database', 1], ['git', 0.5])])).toBe('database 0.4, git 0.2');
    expect(shown('Go on', none, [trace(0.8, ['git', 0.2])])).toBe('');
    expect(shown('Go on', none, [trace(null, ['git', 1]), trace(-0.5, ['git', 1])])).toBe('');
  });

  test('keeps the higher score of a tag, and at most eight tags, the highest first', () => {
    expect(shown('the table', none, [trace(1, ['database', 0.2])])).toBe('database 0.5');
    const many = trace(
      1,
      ...Array.from({ length: 20 }, (_, index): [string, number] => [`tag ${index}`, (index + 1) / 20]),
    );
    const tags = classify('Go on', none, [many]);
    expect(tags).toHaveLength(8);
    expect(tags.map(({ score }) => score)).toEqual([0.5, 0.475, 0.45, 0.425, 0.4, 0.375, 0.35, 0.325]);
  });
});
