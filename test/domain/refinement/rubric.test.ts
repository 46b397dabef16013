import type { Json } from '../../../src/contracts/frames.js';
import type { Criterion } from '../../../src/contracts/rubric.js';
import { defaultRubric, normalised, rubricFaults, scoreOf } from '../../../src/domain/refinement/rubric.js';

const rubric: Criterion[] = [
  { criterion: 'clarity', weight: 3 },
  { criterion: 'brevity', weight: 1 },
];
const score = (answer: Json): number | string[] => {
  const read = scoreOf(answer, rubric);
  return 'faults' in read ? read.faults : Number(read.critique.score.toFixed(9));
};

describe('a score', () => {
  test.each<[string, Json, number]>([
    ['is the one that the critic gives', { score: 0.7 }, 0.7],
    ['may be 0', { score: 0 }, 0],
    ['may be 1', { score: 1 }, 1],
    ['is the mean of the criteria by weight', { scores: { clarity: 0.4, brevity: 1 } }, 0.55],
    ['of criteria goes before one score', { score: 1, scores: { clarity: 0, brevity: 0 } }, 0],
    ['is 1 when every criterion is', { scores: { clarity: 1, brevity: 1 } }, 1],
    ['is read from a text', '{"score":0.7}', 0.7],
    ['is read from a fence', '```json\n{"score":0.7}\n```', 0.7],
    ['is read from between words', 'I think {"score":0.7} is fair.', 0.7],
    ['of several is the last', '{"score":0.1} or rather {"score":0.7} {"note":1}', 0.7],
    ['stands where scores is null', { score: 0.7, scores: null }, 0.7],
  ])('%s', (_, answer, expected) => {
    expect(score(answer)).toBe(expected);
  });

  const single = (got: string): string[] => [`"score" must be a number from 0 to 1; got ${got}`];
  test.each<[string, Json, string[]]>([
    ['above 1', { score: 1.01 }, single('1.01')],
    ['below 0', { score: -0.01 }, single('-0.01')],
    ['of ten', { score: 8 }, single('8')],
    ['as a text', { score: '0.9' }, single('"0.9"')],
    ['as true', { score: true }, single('true')],
    ['as null', { score: null }, single('null')],
    ['as a list', { score: [1] }, single('[1]')],
    [
      'of a criterion that is missing, and one that is none',
      { scores: { clarity: 0.5, tone: 1 } },
      [
        '"scores" must have "brevity", a number from 0 to 1; got nothing',
        '"scores" has "tone", which is no criterion; there are "clarity", "brevity"',
      ],
    ],
    [
      'of a criterion outside 0..1, though score is right',
      { score: 0.9, scores: { clarity: 2, brevity: 1 } },
      ['"scores" must have "clarity", a number from 0 to 1; got 2'],
    ],
    ['as scores in a list', { scores: [1, 1] }, ['"scores" must be an object with "clarity", "brevity"; got [1,1]']],
    [
      'in prose',
      'Nine out of ten!',
      ['the answer holds no whole JSON object; it has to be one JSON object with "scores", "feedback" and "issues"'],
    ],
    [
      'called otherwise',
      { rating: 1 },
      [
        'the answer has neither "score" nor "scores"; it has to be one JSON object with "scores", "feedback" and "issues"',
      ],
    ],
  ])('%s is none', (_, answer, faults) => {
    expect(score(answer)).toEqual(faults);
  });

  test('comes with feedback and issues, in whatever shape, or without', () => {
    const full = scoreOf(
      { score: 1, feedback: { a: 1 }, issues: ['one', { severity: 'HIGH', where: 2, why: 'x' }], approved: true },
      rubric,
    );
    expect(full).toEqual({
      critique: {
        score: 1,
        scores: null,
        feedback: '{"a":1}',
        issues: [
          { severity: 'medium', where: '', why: 'one' },
          { severity: 'high', where: '2', why: 'x' },
        ],
      },
    });
    expect(scoreOf({ score: 1 }, rubric)).toMatchObject({ critique: { feedback: '', issues: [] } });
  });
});

describe('a rubric', () => {
  test('by default weighs five criteria, which sum to 1', () => {
    expect(defaultRubric.map(({ criterion, weight }) => [criterion, weight])).toEqual([
      ['completeness', 0.25],
      ['accuracy', 0.25],
      ['clarity', 0.2],
      ['actionability', 0.15],
      ['alignment', 0.15],
    ]);
    expect(rubricFaults(defaultRubric)).toEqual([]);
  });

  test('is normalised, without a change to what it scores', () => {
    const weights = normalised(rubric);
    expect(weights.map(({ weight }) => weight)).toEqual([0.75, 0.25]);
    expect(scoreOf({ scores: { clarity: 0.4, brevity: 1 } }, weights)).toMatchObject({ critique: { score: 0.55 } });
  });

  test('without any weight, or with a criterion twice, is refused', () => {
    const zero = [{ criterion: 'a', weight: 0 }];
    expect(rubricFaults(zero)).toEqual([
      { path: [0, 'weight'], message: 'must be above 0, or another one: weights that sum to 0 give no score' },
    ]);
    expect(rubricFaults([...zero, { criterion: 'a', weight: 1 }])).toEqual([
      { path: [1, 'criterion'], message: '"a" is taken by [0]' },
    ]);
    expect(
      rubricFaults([
        { criterion: 'a', weight: 0 },
        { criterion: 'b', weight: 1 },
      ]),
    ).toEqual([]);
  });
});
