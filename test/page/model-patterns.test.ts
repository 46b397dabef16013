import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import fc from 'fast-check';

interface Piece {
  kind: 'same' | 'added' | 'removed';
  text: string;
}
interface FanOutModel {
  valueAt: (value: unknown, pointer: string) => unknown;
}

const load = async <T>(file: string): Promise<T> => (await import(pathToFileURL(resolve('src/page', file)).href)) as T;
const { textDiff } = await load<{ textDiff: (before: string, after: string) => Piece[] }>('text-diff.js');
const { differences } = await load<{
  differences: (before: unknown, after: unknown) => { path: string; before: unknown; after: unknown }[];
}>('json-diff.js');
const { valueAt } = await load<FanOutModel>('fan-out-model.js');

const marked = (pieces: Piece[]): string =>
  pieces.map(({ kind, text }) => ({ same: text, added: `[+${text}]`, removed: `[-${text}]` })[kind]).join('');

describe('what changed from one text to the next', () => {
  test.each([
    ['', '', ''],
    ['one', 'one', 'one'],
    ['', 'one two', '[+one two]'],
    ['one two', '', '[-one two]'],
    ['a red house', 'a blue house', 'a[- red][+ blue] house'],
    ['a house', 'a blue house now', 'a[+ blue] house[+ now]'],
    ['a\nb', 'a\n\nb', 'a[-\nb][+\n\nb]'],
  ])('%j to %j is %j', (before, after, expected) => {
    expect(marked(textDiff(before, after))).toBe(expected);
  });

  test('has both texts in it, whatever they are', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', ' ', '\n', 'word '), { maxLength: 40 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const pieces = textDiff(before, after);
        const without = (kind: Piece['kind']): string =>
          pieces
            .filter((piece) => piece.kind !== kind)
            .map((piece) => piece.text)
            .join('');
        expect([without('added'), without('removed')]).toEqual([before, after]);
      }),
    );
  });

  test('goes by lines where there are too many words', () => {
    const line = 'word '.repeat(50).trim();
    const lines = Array.from({ length: 80 }, (_, index) => `${index} ${line}\n`);
    const changed = lines.with(40, `forty ${line}\n`);
    expect(textDiff(lines.join(''), changed.join('')).map(({ kind }) => kind)).toEqual([
      ...['same', 'removed', 'added', 'same'],
    ]);
  });
});

describe('the value at a JSON pointer', () => {
  const value = { a: { 'b/c': [1, { d: null }] }, '~': 'tilde' };
  test.each([
    ['', value],
    ['/a/b~1c/0', 1],
    ['/a/b~1c/1/d', null],
    ['/~0', 'tilde'],
    ['/a/b~1c/1/d/e', undefined],
    ['/constructor', undefined],
  ])('%j', (pointer, expected) => {
    expect(valueAt(value, pointer)).toEqual(expected);
  });
});

describe('what changed from one document to the next', () => {
  const nothing = undefined;
  test.each<[string, unknown, unknown, [string, unknown, unknown][]]>([
    ['nothing', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['a member', { a: { b: 1, c: 2 } }, { a: { b: 3, c: 2 } }, [['a.b', 1, 3]]],
    [
      'what is new and what is gone',
      { a: 1 },
      { b: null },
      [
        ['a', 1, nothing],
        ['b', nothing, null],
      ],
    ],
    [
      'a place in a list',
      [1, 2],
      [1, 3, 4],
      [
        ['[1]', 2, 3],
        ['[2]', nothing, 4],
      ],
    ],
    [
      'a thing by its name, wherever it stands',
      { lanes: [{ lane_id: 'a', state: 'INIT' }, { lane_id: 'b' }] },
      { lanes: [{ lane_id: 'b' }, { lane_id: 'a', state: 'FINALIZED' }] },
      [['lanes[a].state', 'INIT', 'FINALIZED']],
    ],
    ['another kind of value', { a: [] }, { a: {} }, [['a', [], {}]]],
    ['the whole', null, 'text', [['', null, 'text']]],
  ])('%s', (_, before, after, expected) => {
    expect(differences(before, after)).toEqual(
      expected.map(([path, old, young]) => ({ path, before: old, after: young })),
    );
  });
});
