import { readTags } from '../../../../src/domain/team/actions/tags.js';
import { registry } from './registry.js';

const read = (text: string) => readTags(text, registry());
const after = '<send_message>still read</send_message>';

describe('an answer', () => {
  test('of a thousand tags is carried out up to a hundred', () => {
    const { commands, faults } = read(after.repeat(1_000));
    expect(commands).toHaveLength(100);
    expect(faults).toEqual([
      { tool: null, code: 'too_many', message: '900 more tags were not carried out: an answer may hold at most 100' },
    ]);
  });

  test('of five million characters is read up to four, and says so', () => {
    const { commands, faults, text } = read(`${after}${'x'.repeat(5_000_000)}`);
    expect([commands.length, faults.length, text.length]).toEqual([1, 1, 5_000_000]);
    expect(faults[0]?.message).toBe('the answer was read up to 4000000 of its 5000039 characters');
  });

  const size = 400_000;
  const long = 3_000_000;
  test.each<[string, string, number?]>([
    ['opening tags', '<delegate>'],
    ['opening tags with a brace', '<delegate>{ '],
    ['opening tags with a quote', '<delegate a="'],
    ['opening tags with two kinds of quotes', `<delegate a="x' b='`],
    ['closing tags', '</delegate>'],
    ['closed tags in a paragraph with backticks', '` <delegate/> `` '],
    ['backticks', '` '],
    ['backticks at the end of lines', 'a `\n'],
    ['fences', '```js\n', long],
    ['fences in turn', '```js\n~~~ x\n', long],
    ['angle brackets', '<'],
    ['ampersands', '&'],
    ['line breaks', '\n'],
    ['tags that are no tags', '<delegatexx '],
    ['blanks in a tag', '<delegate                    '],
    ['elements', '<delegate><a><b></delegate>'],
  ])('of %s is read in time that grows with its length, not with its square', (_, piece, length = size) => {
    // In quadratic time this would not end before the test does.
    const { commands, faults } = read(`${piece.repeat(Math.ceil(length / piece.length))}${after}`);
    expect(commands.length + faults.length).toBeLessThanOrEqual(101);
  });
});
