import { LaneTexts, type TextCursor } from '../../src/gateway/lane-texts.js';

type Piece = [attempt: number, offset: number, text: string];
const piece = ([attempt, offset, text]: Piece) => ({ lane_id: 'a', attempt, offset, text });

describe('the text of a lane', () => {
  test.each<[string, Piece[], string[], Piece | null]>([
    [
      'pieces in order',
      [
        [1, 0, 'ab'],
        [1, 2, 'cd'],
      ],
      ['grown', 'grown'],
      [1, 0, 'abcd'],
    ],
    [
      'a piece twice',
      [
        [1, 0, 'ab'],
        [1, 0, 'ab'],
      ],
      ['grown', 'nothing'],
      [1, 0, 'ab'],
    ],
    [
      'a piece that overlaps',
      [
        [1, 0, 'abc'],
        [1, 1, 'bcde'],
      ],
      ['grown', 'grown'],
      [1, 0, 'abcde'],
    ],
    [
      'a piece behind a hole',
      [
        [1, 0, 'ab'],
        [1, 5, 'f'],
      ],
      ['grown', 'hole'],
      [1, 0, 'ab'],
    ],
    [
      'the whole text after a hole',
      [
        [1, 5, 'f'],
        [1, 0, 'abcdef'],
      ],
      ['hole', 'grown'],
      [1, 0, 'abcdef'],
    ],
    [
      'an older attempt',
      [
        [2, 0, 'xy'],
        [1, 0, 'abcd'],
      ],
      ['grown', 'nothing'],
      [2, 0, 'xy'],
    ],
    [
      'a newer attempt',
      [
        [1, 0, 'abcd'],
        [2, 0, 'x'],
      ],
      ['grown', 'grown'],
      [2, 0, 'x'],
    ],
    [
      'a newer attempt from its middle',
      [
        [1, 0, 'abcd'],
        [2, 3, 'x'],
      ],
      ['grown', 'hole'],
      [1, 0, 'abcd'],
    ],
  ])('of %s', (_, pieces, outcomes, read) => {
    const texts = new LaneTexts();
    expect(pieces.map((one) => texts.merge(piece(one)))).toEqual(outcomes);
    expect(texts.after(new Map())).toEqual(read === null ? [] : [piece(read)]);
  });

  test('comes to each reader from where that reader stands', () => {
    const texts = new LaneTexts();
    const [early, late]: TextCursor[] = [new Map(), new Map()];
    texts.merge(piece([1, 0, 'ab']));
    expect(texts.after(early!)).toEqual([piece([1, 0, 'ab'])]);
    texts.merge(piece([1, 2, 'cd']));
    expect(texts.after(early!)).toEqual([piece([1, 2, 'cd'])]);
    expect(texts.after(early!)).toEqual([]);
    expect(texts.after(late!)).toEqual([piece([1, 0, 'abcd'])]);
  });

  test('begins anew for every reader when the lane restarts, even before it says anything', () => {
    const texts = new LaneTexts();
    const reader: TextCursor = new Map();
    texts.merge(piece([1, 0, 'ab']));
    texts.after(reader);
    texts.merge(piece([2, 0, '']));
    expect(texts.after(reader)).toEqual([piece([2, 0, ''])]);
    expect(texts.after(reader)).toEqual([]);
  });

  test('is gone when the lane has ended, and late pieces do not bring it back', () => {
    const texts = new LaneTexts();
    texts.merge(piece([1, 0, 'ab']));
    texts.end('a');
    expect(texts.merge(piece([1, 2, 'cd']))).toBe('nothing');
    expect(texts.after(new Map())).toEqual([]);
  });
});
