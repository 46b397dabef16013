import type { Json } from '../../src/contracts/frames.js';
import { choiceOf, sameChoice, type Choice, type ChoicePolicy } from '../../src/domain/choice.js';
import { ParleyError } from '../../src/domain/errors.js';

describe('a choice', () => {
  test.each<[string, ChoicePolicy, Json, Choice | null]>([
    // Pointer
    ['a member', { pointer: '/a' }, { a: 'Blue.' }, 'blue'],
    ['a member of JSON in text', { pointer: '/a' }, '{"a": 2}', 2],
    ['a member of fenced JSON', { pointer: '/a' }, '```json\n{"a": 2}\n```', 2],
    ['a deep member', { pointer: '/a/1/b' }, { a: [0, { b: true }] }, true],
    ['an escaped name', { pointer: '/a~1b/c~0d' }, { 'a/b': { 'c~d': 'x' } }, 'x'],
    ['the whole answer', { pointer: '' }, 'Blue', 'blue'],
    ['an object, whatever the order of its members', { pointer: '/a' }, { a: { y: 1, x: 2 } }, '{"x":2,"y":1}'],
    ['a number in a string', { pointer: '/a' }, { a: '42.0' }, 42],
    ['an identifier too long for a number', { pointer: '/a' }, { a: '12345678901234567891' }, '12345678901234567891'],
    ['nothing where the member is missing', { pointer: '/b' }, { a: 1 }, null],
    ['nothing where the member is inherited', { pointer: '/constructor' }, { a: 1 }, null],
    ['nothing where the member is null', { pointer: '/a' }, { a: null }, null],
    ['nothing where the answer is no JSON', { pointer: '/a' }, 'a is 1', null],
    ['nothing where the JSON is not complete', { pointer: '/a' }, '{"a": 2', null],
    ['nothing past the end of a list', { pointer: '/3' }, [1], null],
    ['nothing for a list index that is none', { pointer: '/01' }, [1, 2], null],
    // Regex
    ['the first group', { regex: 'answer: (\\w+)' }, 'My answer: Blue, surely', 'blue'],
    ['the whole match without a group', { regex: '[ABC]\\b' }, 'I choose B', 'b'],
    ['a number', { regex: '= (\\d+)' }, '6*7 = 42', 42],
    ['nothing where it does not match', { regex: 'answer: (\\w+)' }, 'blue', null],
    ['a match in JSON', { regex: '"score":(\\d)' }, { score: 7 }, 7],
    ['nothing past the first 10,000 characters', { regex: 'blue' }, `${'x'.repeat(9_997)}blue`, null],
    ['a match up to the first 10,000 characters', { regex: 'blue' }, `${'x'.repeat(9_996)}blue`, 'blue'],
    // Enum
    ['an option', { schema: { enum: ['Red', 'Blue'] } }, ' blue. ', 'Blue'],
    ['an option as a whole word', { schema: { enum: ['red', 'blue'] } }, 'It is scared, so BLUE!', 'blue'],
    ['the option named first', { schema: { enum: ['red', 'blue'] } }, 'blue, not red', 'blue'],
    ['the longer of two at one place', { schema: { enum: ['New', 'New York'] } }, 'in new york', 'New York'],
    ['an option with a sign', { schema: { enum: ['A', 'A+'] } }, 'Grade: A+', 'A+'],
    ['a number option', { schema: { enum: [1, 2, 10] } }, 'number 10 then', 10],
    ['a number option as JSON', { schema: { enum: [1, 0.3] } }, 0.1 + 0.2, 0.3],
    ['a boolean option', { schema: { enum: [true, false] } }, 'That is false', false],
    ['nothing where no option is named', { schema: { enum: ['red', 'blue'] } }, 'bluebell, reddish', null],
    ['an option in another script', { schema: { enum: ['да', 'нет'] } }, 'Ответ: Нет.', 'нет'],
    // Type
    ['a JSON number', { schema: { type: 'number' } }, 3.5, 3.5],
    ['the first number in a text', { schema: { type: 'number' } }, 'about 3.5 of 10', 3.5],
    ['a negative number', { schema: { type: 'number' } }, 'It is -4.', -4],
    ['a number with separators', { schema: { type: 'number' } }, 'costs 1,234,567.5 in all', 1_234_567.5],
    ['a number with an exponent', { schema: { type: 'number' } }, '6.02e23', 6.02e23],
    ['a number behind a hyphen', { schema: { type: 'number' } }, 'item-3', 3],
    ['no digits of a word', { schema: { type: 'number' } }, 'v2 says 7', 7],
    ['the first integer', { schema: { type: 'integer' } }, '3.5 or 4', 4],
    ['the first number in range', { schema: { type: 'number', minimum: 10, maximum: 100 } }, '3 tries: 85', 85],
    ['a number at its bound', { schema: { minimum: 10, maximum: 10 } }, 'ten is 10', 10],
    ['nothing where the number is out of range', { schema: { type: 'number', maximum: 5 } }, 6, null],
    ['nothing where the number is no integer', { schema: { type: 'integer' } }, 6.5, null],
    ['nothing where there is no number', { schema: { type: 'number' } }, 'six', null],
    ['a JSON boolean', { schema: { type: 'boolean' } }, true, true],
    ['the first boolean in a text', { schema: { type: 'boolean' } }, 'Not false but true', false],
    ['nothing where there is no boolean', { schema: { type: 'boolean' } }, 'perhaps', null],
    ['a text, even of digits', { schema: { type: 'string' } }, ' 007 ', '007'],
    // Together
    ['pointer, then regex', { pointer: '/a', regex: '\\((\\w)\\)' }, { a: 'option (C)', b: '(D)' }, 'c'],
    ['pointer, then schema', { pointer: '/a', schema: { type: 'integer' } }, { a: 'seven is 7', b: 3 }, 7],
    ['regex, then schema', { regex: 'final:(.*)', schema: { enum: ['yes', 'no'] } }, 'no no final: yes', 'yes'],
    ['nothing of nothing', {}, ' ', null],
  ])('is %s', (_, policy, answer, choice) => {
    expect(choiceOf(answer, policy)).toBe(choice);
  });

  test('by a regex that is none is an error that says so', () => {
    expect(() => choiceOf('x', { regex: '(' })).toThrow(ParleyError);
    expect(() => choiceOf('x', { regex: '(' })).toThrow('must be a regular expression');
  });
  test.each<[Choice, Choice, boolean]>([
    [0.3, 0.1 + 0.2, true],
    [1, 1 + 2e-9, false],
    ['a', 'a', true],
    ['1', 1, false],
    [true, 'true', false],
  ])('%j is the same as %j: %s', (a, b, same) => {
    expect(sameChoice(a, b)).toBe(same);
  });
});
