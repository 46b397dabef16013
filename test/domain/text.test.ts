import type { Json } from '../../src/contracts/frames.js';
import { answerText, isEmptyAnswer, jaccard, normalise, structureIn, tokenSet } from '../../src/domain/text.js';

const similarity = (a: string, b: string): number => jaccard(tokenSet(a), tokenSet(b));

describe('a normalised text', () => {
  test.each([
    ['  Blue  ', 'blue'],
    ['Blue.', 'blue'],
    ['The   sky\n is\tBLUE!!! ', 'the sky is blue'],
    ['is it? ...', 'is it'],
    ['3.5', '3.5'],
    ['a, b.', 'a, b'],
    ['...', '...'],
    ['', ''],
    ['cafe\u0301', 'caf\u00e9'],
    ['ÄÖ', 'äö'],
  ])('of %j is %j', (text, expected) => {
    expect(normalise(text)).toBe(expected);
    expect(normalise(normalise(text))).toBe(expected);
  });
  test('of a very long run of punctuation is there at once', () => {
    expect(normalise(`${'. '.repeat(200_000)}x`).endsWith('x')).toBe(true);
  });
});

describe('token-set similarity', () => {
  test.each([
    ['a b c', 'c b a', 1],
    ['a a a b', 'b a', 1],
    ['A  B', 'a b.', 1],
    ['a b', 'a c', 1 / 3],
    ['a b c d', 'a b c', 3 / 4],
    ['a', 'b', 0],
    ['', '', 1],
    ['', 'a', 0],
  ])('of %j and %j is %d', (a, b, expected) => {
    expect(similarity(a, b)).toBeCloseTo(expected, 12);
    expect(similarity(b, a)).toBeCloseTo(expected, 12);
  });
  test('is the reverse of a metric', () => {
    const texts = ['', 'a', 'b', 'a b', 'a c', 'b c', 'a b c', 'd', 'a d', 'b c d', 'a b c d'];
    for (const a of texts) {
      for (const b of texts) {
        expect(similarity(a, b) === 1).toBe(a === b);
        for (const c of texts) {
          expect(1 - similarity(a, c)).toBeLessThanOrEqual(1 - similarity(a, b) + 1 - similarity(b, c) + 1e-12);
        }
      }
    }
  });
});

describe('the text of an answer', () => {
  test('is the answer itself where it is a string, else its canonical JSON', () => {
    expect(answerText('x')).toBe('x');
    expect(answerText({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
    expect(answerText(5)).toBe('5');
  });
});

describe('an answer', () => {
  test.each<[Json | undefined, boolean]>([
    [undefined, true],
    [null, true],
    ['', true],
    [' \n', true],
    ['x', false],
    [false, false],
    [0, false],
    [[], false],
    [{}, false],
  ])('%j is empty: %s', (answer, empty) => {
    expect(isEmptyAnswer(answer)).toBe(empty);
  });
});

describe('the structure in a text', () => {
  test.each<[string, Json | undefined]>([
    [' {"a":1} ', { a: 1 }],
    ['[1,2]', [1, 2]],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['```\n[1]\n```\n', [1]],
    ['{"a":1', undefined],
    ['5', undefined],
    ['"x"', undefined],
    ['the answer is {"a":1}', undefined],
  ])('%j is %j', (text, value) => {
    expect(structureIn(text)).toEqual(value);
  });
});
