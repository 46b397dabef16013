import { fitted, headAndTail, maxAnswerChars } from '../../../activities/tools/fitted.js';
import { ShownOutput } from '../../../activities/tools/shown-output.js';
import type { Json } from '../../../src/contracts/frames.js';

const size = (answer: Json): number => JSON.stringify(answer).length;
const long = 'x'.repeat(5_000_000);

describe('an answer of a tool', () => {
  test('that fits stays as it is', () => {
    const answer = { status: 'ok', text: 'x'.repeat(199_000) };
    expect(fitted(answer)).toBe(answer);
  });

  test.each<[string, Json]>([
    ['one text of 5 MB', { status: 'ok', text: long }],
    ['a text of quotes', { status: 'ok', text: '"'.repeat(1_000_000) }],
    ['a text of control characters', { status: 'ok', text: '\u0001'.repeat(1_000_000) }],
    ['texts in lists', { status: 'ok', parts: Array.from({ length: 50 }, () => 'y'.repeat(100_000)) }],
    ['a hundred thousand numbers', { status: 'ok', numbers: Array.from({ length: 100_000 }, (_, at) => at) }],
    ['a hundred thousand names', Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`"name" ${at}`, at]))],
    ['a bare text', long],
  ])('of %s is cut to what a context holds', (_, answer) => {
    const cut = fitted(answer);
    expect(size(cut)).toBeLessThanOrEqual(maxAnswerChars);
    expect(size(cut)).toBeGreaterThan(50_000);
    expect(JSON.stringify(cut)).toContain('characters are left out here');
  });

  test('keeps its short texts, and the beginning and the end of the long one', () => {
    const text = `${'a'.repeat(2_000_000)}${'b'.repeat(2_000_000)}`;
    const { message, ...rest } = fitted({ status: 'error', code: 'tool_error', message: text }) as Record<
      string,
      string
    >;
    expect(rest).toEqual({ status: 'error', code: 'tool_error' });
    expect(message?.replace(/(.)\1{50000,}/g, '$1')).toMatch(
      /^a\n\[\.\.\. [\d,]+ of 4,000,000 characters are left out here \.\.\.\]\nb$/,
    );
  });

  test('that is an error stays one', () => {
    const numbers = Array.from({ length: 100_000 }, (_, at) => at);
    expect(fitted({ status: 'error', code: 'x', numbers })).toMatchObject({ status: 'error' });
  });

  test('is not cut within a character', () => {
    expect(headAndTail('🙂'.repeat(1_000), 1_001)).not.toMatch(
      /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/,
    );
  });
});

describe('what a program says', () => {
  test.each<[string[], string]>([
    [[], ''],
    [['ab', 'cd'], 'abcd'],
    [['abcd', 'efgh'], 'abcdefgh'],
    [['abcdefgh'], 'abcdefgh'],
    [['abc', 'defg', 'hij'], 'abcd\n[... 2 of 10 characters are left out here ...]\nghij'],
    [['abcdefghij'], 'abcd\n[... 2 of 10 characters are left out here ...]\nghij'],
  ])('as %j is shown as %j', (pieces, shown) => {
    const output = new ShownOutput(8);
    for (const piece of pieces) output.add(piece);
    expect(output.text()).toBe(shown);
  });
});
