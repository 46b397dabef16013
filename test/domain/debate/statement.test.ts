import type { Json } from '../../../src/contracts/frames.js';
import { planSchema } from '../../../src/contracts/plan.js';
import type { AskOutcome } from '../../../src/domain/debate/effects.js';
import { readAnswer, type AnswerParts } from '../../../src/domain/debate/statement.js';
import { tidyPlan } from '../../../src/domain/debate/tidy-plan.js';
import { withFindings } from '../../../src/domain/debate/rounds.js';
import type { Finding } from '../../../src/contracts/finding.js';
import { jsonrepair } from 'jsonrepair';

const parts: AnswerParts = {
  scan: () => [],
  plan: (value) => {
    const parsed = planSchema.safeParse(value);
    return parsed.success
      ? { plan: parsed.data }
      : { faults: parsed.error.issues.map(({ path, message }) => `plan.${path.join('.')}: ${message}`) };
  },
  mend: (text) => {
    try {
      return JSON.parse(jsonrepair(text)) as unknown;
    } catch {
      return undefined;
    }
  },
};
const read = (answer: Json, role: 'critic' | 'solution' = 'critic'): AskOutcome =>
  readAnswer('statement', role, answer, parts);
/** `for 0.5`, or the faults. */
const shown = (outcome: AskOutcome): string =>
  outcome.outcome === 'statement'
    ? `${outcome.answer.stance} ${outcome.answer.confidence}`
    : outcome.outcome === 'unreadable'
      ? outcome.faults.join(' | ')
      : JSON.stringify(outcome);

describe('a statement', () => {
  test.each<[string, Json, string]>([
    ['an object', { stance: 'against', confidence: 0.7 }, 'against 0.7'],
    ['JSON text', '{"stance":"against","confidence":0.7}', 'against 0.7'],
    ['a fence', '```json\n{"stance":"against","confidence":0.7}\n```', 'against 0.7'],
    [
      'a fence with words around it',
      'I think:\n```\n{"stance":"against","confidence":0.7}\n```\nThat is all.',
      'against 0.7',
    ],
    ['words around it', 'Well, {"stance":"against","confidence":0.7} is what I hold.', 'against 0.7'],
    ['a stray brace before it', 'Use { with care. {"stance":"against","confidence":0.7}', 'against 0.7'],
    ['a closing brace in a string', '{"position":"a } b","stance":"against","confidence":0.7}', 'against 0.7'],
    [
      'a quote and a brace in a string',
      'So: {"position":"say \\"}\\" {","stance":"against","confidence":0.7}',
      'against 0.7',
    ],
    [
      'an object that holds another like it',
      'So: {"stance":"against","confidence":0.7,"draft":{"stance":"for","confidence":0.1}}.',
      'against 0.7',
    ],
    ['a draft before the answer', '{"stance":"for"} No: {"stance":"against","confidence":0.7}', 'against 0.7'],
    [
      'an object without a known member beside it',
      '{"stance":"against","confidence":0.7} {"thanks":true}',
      'against 0.7',
    ],
    [
      'an object without a stance beside it',
      '{"stance":"against","confidence":0.7} I would rather see {"plan":{"tasks":[]}}',
      'against 0.7',
    ],
    ['a list around it', [{ stance: 'against', confidence: 0.7 }], 'against 0.7'],
    ['a trailing comma', '{"stance":"against","confidence":0.7,}', 'against 0.7'],
    ['single quotes', "{'stance':'against','confidence':0.7}", 'against 0.7'],
    ['a comment', '{"stance":"against", // no\n "confidence":0.7}', 'against 0.7'],
    ['unquoted names', '{stance:"against",confidence:0.7}', 'against 0.7'],
    ['members nobody knows', { stance: 'against', confidence: 0.7, mood: 'bad' }, 'against 0.7'],
    ['capitals and blanks', { stance: ' Against ', confidence: 0.7 }, 'against 0.7'],
    ['a number as text', { stance: 'against', confidence: '0.7' }, 'against 0.7'],
  ])('is read from %s', (_, answer, expected) => {
    expect(shown(read(answer))).toBe(expected);
  });

  test.each<[string, Json, string]>([
    ['confidence', { stance: 'against' }, 'against 0.5'],
    ['confidence (null)', { stance: 'against', confidence: null }, 'against 0.5'],
    ['stance', { confidence: 0.3 }, 'for 0.3'],
    ['stance (null)', { stance: null, confidence: 0.3 }, 'for 0.3'],
    ['both', { position: 'hm' }, 'for 0.5'],
  ])('takes a missing %s for its preset', (_, answer, expected) => {
    expect(shown(read(answer))).toBe(expected);
  });

  test.each([0, 1, 0.0001])('keeps the explicit confidence %f', (confidence) => {
    expect(shown(read({ confidence }))).toBe(`for ${confidence}`);
  });

  const noObject = 'the answer holds no whole JSON object; it has to be one JSON object with';
  test.each<[string, Json, string | RegExp]>([
    ['1.5', { confidence: 1.5 }, '"confidence" must be a number from 0 to 1; got 1.5'],
    ['-0.1', { confidence: -0.1 }, '"confidence" must be a number from 0 to 1; got -0.1'],
    ['80 %', { confidence: '80 %' }, '"confidence" must be a number from 0 to 1; got "80 %"'],
    ['a list', { confidence: [0.5] }, '"confidence" must be a number from 0 to 1; got [0.5]'],
    ['true', { confidence: true }, '"confidence" must be a number from 0 to 1; got true'],
    ['no stance there is', { stance: 'maybe' }, '"stance" must be "for" or "against"; got "maybe"'],
    ['two faults', { stance: 1, confidence: 2 }, /^"stance" .*; got 1 \| "confidence" .*; got 2$/],
    ['no JSON', 'I am for it, with 0.9.', new RegExp(`^${noObject}`)],
    ['nothing', '', new RegExp(`^${noObject}`)],
    ['null', null, new RegExp(`^${noObject}`)],
    ['a number', 7, new RegExp(`^${noObject}`)],
    ['no known member', { verdict: 'good' }, /^the answer has none of the members "stance", "confidence", "position"/],
    ['an answer that was cut off', '{"stance":"for","confidence":0.9,"position":"it', new RegExp(`^${noObject}`)],
    ['a member of the prototype', '{"__proto__":{"stance":"for"}}', /^the answer has none of the members/],
  ])('with %s cannot be read, and says why', (_, answer, expected) => {
    const outcome = shown(read(answer));
    if (typeof expected === 'string') expect(outcome).toBe(expected);
    else expect(outcome).toMatch(expected);
  });

  test('takes issues and changes in whatever form they come', () => {
    const outcome = read({
      position: { because: 1 },
      issues: [{ severity: 'HIGH', where: 't1', why: 'no' }, 'loose words', { why: 'x' }, null],
      changes: 'one change',
    });
    expect(outcome).toMatchObject({
      answer: {
        position: '{"because":1}',
        issues: [
          { severity: 'high', where: 't1', why: 'no' },
          { severity: 'medium', where: '', why: 'loose words' },
          { severity: 'medium', where: '', why: 'x' },
          { severity: 'medium', where: '', why: '' },
        ],
        changes: ['one change'],
      },
    });
  });

  test('is cut where it is endless', () => {
    const outcome = read({ position: 'x'.repeat(30_000), issues: Array.from({ length: 200 }, () => 'y') });
    expect(outcome).toMatchObject({
      answer: { position: expect.stringMatching(/… \(10000 characters more\)$/) as string },
    });
    expect(outcome.outcome === 'statement' && outcome.answer.issues).toHaveLength(50);
  });

  // In quadratic time these would take minutes.
  test.each([`${'{'.repeat(1_000_000)}"`, '{"a":'.repeat(200_000), '{ '.repeat(500_000)])(
    'is soon found to be in no text full of braces',
    (text) => {
      expect(read(text)).toMatchObject({ outcome: 'unreadable' });
    },
  );
});

describe('the plan in a statement', () => {
  const task = { task_id: 't1', argv: ['npm', 'test'] };

  test('is the solution’s alone; of others it is ignored', () => {
    expect(read({ plan: { tasks: [task] } }, 'solution')).toMatchObject({ answer: { plan: { tasks: [task] } } });
    expect(read({ plan: { tasks: 'nonsense' } }, 'critic')).toMatchObject({ answer: { plan: null } });
  });
  test('may be left out', () => {
    expect(read({ stance: 'for' }, 'solution')).toMatchObject({ answer: { plan: null } });
    expect(read({ stance: 'for', plan: null }, 'solution')).toMatchObject({ answer: { plan: null } });
  });
  test('with faults makes the statement one that cannot be read, with each of them', () => {
    const outcome = read({ plan: { tasks: [{ task_id: 't 1', argv: [] }] }, confidence: 3 }, 'solution');
    expect(outcome).toMatchObject({ outcome: 'unreadable' });
    expect(shown(outcome).split(' | ')).toEqual([
      expect.stringContaining('"confidence"'),
      expect.stringContaining('plan.tasks.0.task_id'),
      expect.stringContaining('plan.tasks.0.argv'),
    ]);
  });
  test('is taken without members that no plan has, and without nulls', () => {
    const written = {
      title: 'My plan',
      tasks: [
        {
          ...task,
          description: 'runs the tests',
          cwd: null,
          undo: null,
          expect: { exit_code: 0, files: ['a', { path: 'b', exists: true, note: 1 }], stdout: 'x' },
          limits: { timeout_ms: 5, seconds: 1 },
        },
      ],
    };
    expect(tidyPlan(written)).toEqual({
      tasks: [
        { ...task, expect: { exit_code: 0, files: ['a', { path: 'b', exists: true }] }, limits: { timeout_ms: 5 } },
      ],
    });
    expect(read({ plan: written }, 'solution')).toMatchObject({ outcome: 'statement' });
  });
  test.each(['text', 7, ['x'], { tasks: 'x' }, { tasks: [7] }, { tasks: [{ undo: 'x', expect: 7 }] }])(
    '%j is left for the schema to refuse',
    (value) => {
      expect(read({ plan: value as Json }, 'solution')).toMatchObject({ outcome: 'unreadable' });
    },
  );
});

describe('a diagnosis', () => {
  const diagnosis = (answer: Json): AskOutcome => readAnswer('diagnosis', 'critic', answer, parts);
  test.each<[Json, string | null]>([
    [{ diagnosis: 'no such table' }, 'no such table'],
    ['```json\n{"diagnosis":"no such table"}\n```', 'no such table'],
    [{ diagnosis: null }, null],
    [{ diagnosis: '  ' }, null],
    [{ diagnosis: { cause: 'x' } }, '{"cause":"x"}'],
  ])('in %j is %j', (answer, expected) => {
    expect(diagnosis(answer)).toEqual({ outcome: 'diagnosis', diagnosis: expected });
  });
  test.each<[Json]>([['no idea'], [{ cause: 'x' }]])('is not in %j', (answer) => {
    expect(diagnosis(answer)).toMatchObject({ outcome: 'unreadable' });
  });
});

describe('a repair', () => {
  const repair = (answer: Json): AskOutcome => readAnswer('repair', 'solution', answer, parts);
  test('is a plan', () => {
    expect(repair({ plan: { tasks: [{ task_id: 'b', argv: ['x'] }] } })).toMatchObject({
      outcome: 'repair',
      plan: { tasks: [{ task_id: 'b', argv: ['x'] }] },
    });
  });
  test.each<[Json]>([[{ plan: null }], [{ plan: {} }], [{ tasks: [] }], ['no']])('is not in %j', (answer) => {
    expect(repair(answer)).toMatchObject({ outcome: 'unreadable' });
  });
});

describe('a finding of the static scan', () => {
  const finding = (confidence: number): Finding => ({
    rule: 'r',
    severity: 'high',
    confidence,
    where: 't1',
    why: 'w',
  });
  const said = (stance: 'for' | 'against' | 'abstain', confidence: number) => ({
    stance,
    confidence,
    position: '',
    issues: [],
    changes: [],
    plan: false,
    valid: stance !== 'abstain',
    failure: null,
  });
  test.each<['for' | 'against' | 'abstain', number, number[], string]>([
    ['for', 0.95, [], 'for 0.95'],
    ['for', 0.95, [0.6], 'against 0.6'],
    ['for', 0, [0.95], 'against 0.95'],
    ['against', 0.7, [0.6], 'against 0.7'],
    ['against', 0.7, [0.6, 0.95], 'against 0.95'],
    ['abstain', 0, [0.95], 'against 0.95'],
    ['abstain', 0, [], 'abstain 0'],
  ])('makes security, who is %s with %f, with findings of %j: %s', (stance, confidence, findings, expected) => {
    const result = withFindings(said(stance, confidence), findings.map(finding));
    expect(`${result.stance} ${result.confidence}`).toBe(expected);
    expect(result.valid).toBe(stance !== 'abstain');
  });
});
