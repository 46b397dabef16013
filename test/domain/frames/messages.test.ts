import type { FinalFrame } from '../../../src/contracts/frames.js';
import { expire, heldChars, maxFragments, nextExpiry } from '../../../src/domain/frames.js';
import { sha256 } from '../../../src/domain/sha256.js';
import { fail, final, fragment, permutations, play, textOf, whole, type LaneFrame } from './play.js';

describe('messages in one piece', () => {
  test('are delivered at once and in order', () => {
    expect(play([whole(1, 'a'), whole(2, 'b'), final(3)]).deliveries).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'final', text: null, usage: null },
    ]);
  });
  test('give the same text in every order of arrival', () => {
    for (const order of permutations([whole(1, 'a'), whole(2, 'b'), whole(3, 'c'), whole(4, 'd'), final(5)])) {
      expect(textOf(play(order).deliveries)).toBe('abcd<final>');
    }
  });
  test('may be empty and still keep their place', () => {
    expect(textOf(play([whole(2, 'b'), whole(1, '')]).deliveries)).toBe('b');
  });
  test('start at number 1: a first message 2 waits', () => {
    expect(play([whole(2, 'b')]).deliveries).toEqual([]);
  });
});

describe('messages in fragments', () => {
  const fragments = [fragment(1, 0, 'ab'), fragment(1, 1, 'cd'), fragment(1, 2, 'ef'), fragment(1, 3, 'g', true)];

  test('are delivered whole, when all up to the last are in', () => {
    expect(play(fragments.slice(0, 3)).deliveries).toEqual([]);
    expect(play(fragments).deliveries).toEqual([{ type: 'text', text: 'abcdefg' }]);
  });
  test('give the same text in every order of arrival', () => {
    for (const order of permutations(fragments)) expect(textOf(play(order).deliveries)).toBe('abcdefg');
  });
  test('give the same text in every order across two messages', () => {
    const two = [
      fragment(1, 0, 'ab'),
      fragment(1, 1, 'c', true),
      fragment(2, 0, 'de'),
      fragment(2, 1, 'f', true),
      final(3),
    ];
    for (const order of permutations(two)) expect(textOf(play(order).deliveries)).toBe('abcdef<final>');
  });
  test('give the same text whatever is repeated', () => {
    for (const order of permutations(fragments)) {
      const { deliveries, buffer } = play([...order, ...order]);
      expect(textOf(deliveries)).toBe('abcdefg');
      expect(buffer.duplicates).toBe(4);
    }
  });
});

describe('a fragment is refused, counted and not stored', () => {
  test.each<[string, LaneFrame[], string]>([
    [
      'with another checksum',
      [{ ...fragment(1, 0, 'ab'), checksum: sha256('ba') }],
      'fragment 0 of message 1 does not match its checksum; send the sha256 of exactly its text, in UTF-8',
    ],
    [
      'shorter than the others',
      [fragment(1, 0, 'abc'), fragment(1, 1, 'ab')],
      'fragment 1 of message 1 has 2 characters; all but the last must have 3, as fragment 0 has',
    ],
    [
      'longer than the others',
      [fragment(1, 1, 'abc'), fragment(1, 0, 'abcd')],
      'fragment 0 of message 1 has 4 characters; all but the last must have 3, as fragment 1 has',
    ],
    [
      'longer than the others and last',
      [fragment(1, 0, 'abc'), fragment(1, 1, 'abcd', true)],
      'fragment 1 of message 1 has 4 characters; the last may have at most 3, as fragment 0 has',
    ],
    [
      'shorter than a last one that came first',
      [fragment(1, 1, 'abc', true), fragment(1, 0, 'ab')],
      'fragment 0 of message 1 has 2 characters; it must have at least the 3 of the last one',
    ],
    [
      'past the last one',
      [fragment(1, 1, 'a', true), fragment(1, 2, 'a')],
      'fragment 2 of message 1 is past the last one, 1; start message 2',
    ],
    [
      'called last before others',
      [fragment(1, 2, 'a'), fragment(1, 1, 'a', true)],
      'fragment 1 of message 1 cannot be the last; fragment 2 is already there',
    ],
    [
      'past the limit',
      [fragment(1, maxFragments, 'a')],
      'fragment 10000 of message 1 is past the limit; a message has at most 10000 fragments',
    ],
    [
      'for a number that a final has',
      [final(2), fragment(2, 0, 'a')],
      'message 2 is already a final; a partial needs a number of its own',
    ],
    [
      'when it is a final for a number with fragments',
      [fragment(1, 0, 'a'), final(1)],
      'message 1 already has fragments; a final needs a number of its own',
    ],
  ])('%s', (_, frames, message) => {
    const before = play(frames.slice(0, -1)).buffer;
    const { buffer, outcome, problem, deliveries } = play(frames);
    expect(outcome).toBe('refused');
    expect(problem).toBe(message);
    expect(deliveries).toEqual([]);
    expect(buffer).toEqual({ ...before, refused: 1 });
  });

  test('and a right copy fills its place afterwards', () => {
    const right = { ...fragment(1, 0, 'ab', true), checksum: sha256('ab') };
    expect(textOf(play([{ ...right, text: 'xx' }, right]).deliveries)).toBe('ab');
  });
  test.each([sha256('é'), `sha256:${sha256('é')}`])('but not with the checksum %s', (checksum) => {
    expect(play([{ ...whole(1, 'é'), checksum }]).outcome).toBe('accepted');
  });
  test.each([
    ['ab', 'ab'],
    ['ab', 'a'],
    ['ab', ''],
  ])('but not when the others are %j and the last %j', (first, last) => {
    expect(textOf(play([fragment(1, 0, first), fragment(1, 1, last, true)]).deliveries)).toBe(first + last);
  });
});

describe('a copy', () => {
  test('loses to the first, whatever it says', () => {
    const { deliveries, outcomes } = play([fragment(1, 0, 'ab'), fragment(1, 0, 'xy'), fragment(1, 1, 'c', true)]);
    expect(outcomes).toEqual(['accepted', 'duplicate', 'accepted']);
    expect(textOf(deliveries)).toBe('abc');
  });
  test.each<[string, LaneFrame[]]>([
    ['of what was delivered', [whole(1, 'a'), whole(1, 'b')]],
    ['of what waits', [whole(2, 'a'), whole(2, 'a')]],
    ['of a final that waits', [final(2, 'a'), final(2, 'b')]],
    ['of a delivered final', [final(1, 'a'), final(1, 'a')]],
    ['with a wrong checksum', [whole(1, 'a'), { ...whole(1, 'b'), checksum: sha256('c') }]],
  ])('%s is a duplicate', (_, frames) => {
    const { outcome, buffer } = play(frames);
    expect(outcome).toBe('duplicate');
    expect(buffer.duplicates).toBe(1);
  });
});

describe('the end of a lane', () => {
  test('is a final with what it carries', () => {
    const frame: FinalFrame = { type: 'final', msg_seq: 1, json: { a: null }, usage: { tokens: 3, usd: 0.1 } };
    expect(play([frame]).deliveries).toEqual([
      { type: 'final', text: null, json: { a: null }, usage: { tokens: 3, usd: 0.1 } },
    ]);
  });
  test('is a fail in its place', () => {
    expect(textOf(play([fail(2), whole(1, 'a')]).deliveries)).toBe('a<fail>');
  });
  test('is a fail without a number at once, whatever waits', () => {
    const { buffer, deliveries } = play([whole(2, 'b'), fragment(3, 0, 'c'), fail()]);
    expect(deliveries).toEqual([{ type: 'fail', code: 'EAGENTDOWN', message: 'gone', retryable: false }]);
    expect(buffer).toMatchObject({ closed: true, waiting: [], late: 2 });
  });
  test.each<[string, LaneFrame]>([
    ['partial', whole(3, 'x')],
    ['final', final(3)],
    ['numbered fail', fail(3)],
    ['fail without a number', fail()],
  ])('makes a %s after it late', (_, frame) => {
    const { buffer, outcome, deliveries } = play([whole(1, 'a'), final(2), frame]);
    expect(outcome).toBe('late');
    expect(buffer.late).toBe(1);
    expect(textOf(deliveries)).toBe('a<final>');
  });
  test('drops and counts what had come behind it', () => {
    const { buffer, deliveries } = play([fragment(3, 0, 'x'), fragment(3, 1, 'y'), final(2), whole(1, 'a')]);
    expect(textOf(deliveries)).toBe('a<final>');
    expect(buffer).toMatchObject({ waiting: [], late: 2 });
    expect(nextExpiry(buffer)).toBeNull();
    expect(heldChars(buffer)).toBe(0);
    expect(expire(buffer, 1e9).deliveries).toEqual([]);
  });
});
