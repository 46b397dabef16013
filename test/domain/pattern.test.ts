import { ParleyError } from '../../src/domain/errors.js';
import { compilePattern } from '../../src/domain/pattern.js';

describe('a pattern', () => {
  test.each<[string, string, string | undefined]>([
    ['answer: (\\w+)', 'My answer: blue, surely', 'blue'],
    ['[ABC]\\b', 'I choose B', 'B'],
    ['(?<pick>[ABC])\\.', 'It is C.', 'C'],
    ['(x)?y', 'y', 'y'],
    ['(?i)YES', 'yes', 'yes'],
    ['\\u0041+', 'an A', 'A'],
    ['^b', 'a\nb', undefined],
    ['blue', 'red', undefined],
  ])('%s finds in %j: %j', (source, text, found) => {
    expect(compilePattern(source).find(text)).toBe(found);
  });

  test.each<[string, string]>([
    ['(', 'must be a regular expression without lookaround and backreferences (RE2); missing closing ): `(`'],
    ['a(?=b)', 'must be a regular expression without lookaround and backreferences (RE2); invalid or unsupported Perl'],
    ['(a)\\1', 'must be a regular expression without lookaround and backreferences (RE2); invalid escape sequence'],
    [
      'a{1,999}b{1,999}',
      'must be simpler: it has 3996 instructions, of at most 200; a repetition {0,99} counts 99 times',
    ],
  ])('%s is refused', (source, message) => {
    expect(() => compilePattern(source)).toThrow(ParleyError);
    expect(() => compilePattern(source)).toThrow(message);
  });

  // A backtracking engine needs longer than a life for each of them.
  test.each(['(.*)(.*)(.*)(.*)[cd]$', '(a+)+[cd]$', '(a|aa)+[cd]$', '(a?){40}[cd]$'])('%s ends', (source) => {
    expect(compilePattern(source).find('c' + 'a'.repeat(20_000))).toBe(undefined);
  });

  test.each([
    ['blue', 10_000],
    [`(?:${'x|'.repeat(20)}y)*!`, 1_000],
  ])('%s looks at no more than its length allows', (source, least) => {
    const pattern = compilePattern(source);
    const text = source === 'blue' ? 'blue' : '!';
    expect(pattern.find('x'.repeat(least - text.length) + text)).toBeDefined();
    expect(pattern.find('-'.repeat(10_000 - text.length + 1) + text)).toBe(undefined);
  });
});
