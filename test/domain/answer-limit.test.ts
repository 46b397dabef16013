import type { Json } from '../../src/contracts/frames.js';
import { answerFault, answerLimit, jsonBytes, textBytes } from '../../src/domain/answer-limit.js';

describe('the bytes of', () => {
  test.each<[Json]>([[''], ['blue'], ['"\n\u0001'], ['é'], ['日本'], ['😀'], [{ a: [1, null, 'ß'] }]])(
    '%j are those of its JSON',
    (value) => {
      expect(jsonBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value)));
    },
  );

  test('pieces are those of the whole', () => {
    const text = 'Which "colour"?\n日本';
    expect(textBytes(text.slice(0, 7)) + textBytes(text.slice(7))).toBe(textBytes(text));
  });
});

describe('the answers of a session', () => {
  test.each<[string, number]>([
    ['', 475_000],
    ['x'.repeat(900_000), 250_000],
    ['日'.repeat(300_000), 250_000],
  ])('have the less room the longer its prompt is', (prompt, limit) => {
    expect(answerLimit(prompt)).toBe(limit);
    expect(answerFault(prompt, limit)).toBe(null);
    expect(answerFault(prompt, limit + 1)).toBe(
      `the answer is too long: the answers of this session may take ${limit} bytes together, and with it they take ${limit + 1}`,
    );
  });
});
