import type { Json } from '../../src/contracts/frames.js';
import { answersFault, jsonBytes } from '../../src/domain/answer-limit.js';

describe('the bytes of', () => {
  test.each<[Json]>([[''], ['blue'], ['"\n\u0001'], ['é'], ['日本'], ['😀'], [{ a: [1, null, 'ß'] }]])(
    '%j are those of its JSON',
    (value) => {
      expect(jsonBytes(value)).toBe(Buffer.byteLength(JSON.stringify(value)));
    },
  );
});

describe('answers', () => {
  // (1,900,000 - 3 for the prompt) / 4, and 2 for the quotes of each.
  const limit = 474_999;
  test.each<[string, Json[], boolean]>([
    ['that fill what there is', ['x'.repeat(limit - 2)], true],
    ['that need one byte more', ['x'.repeat(limit - 1)], false],
    ['that fill it together', ['x'.repeat(400_000), 'x'.repeat(limit - 400_004)], true],
    ['that exceed it together', ['x'.repeat(400_000), 'x'.repeat(limit - 400_003)], false],
    ['whose characters take three bytes', ['日'.repeat(Math.ceil(limit / 3))], false],
    ['in JSON', [{ text: 'x'.repeat(limit) }], false],
    ['that are none', [], true],
  ])('%s', (_, answers, fits) => {
    expect(answersFault('x', answers) === null).toBe(fits);
  });

  test('have the less room the longer the prompt is', () => {
    expect(answersFault('x'.repeat(900_000), ['x'.repeat(300_000)])).toBe(
      'the answer is too long: the answers of this session may take 249999 bytes together, and with it they take 300002',
    );
  });
});
