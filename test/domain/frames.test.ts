import type { FailFrame, FinalFrame, PartialFrame } from '../../src/contracts/frames.js';
import {
  ack,
  bufferLimit,
  charsBehindGap,
  expire,
  heldChars,
  idleMessageMs,
  isFull,
  maxFragments,
  maxMissing,
  missing,
  nextExpiry,
  openBuffer,
  overflows,
  receive,
  type Delivery,
  type LaneBuffer,
  type Received,
} from '../../src/domain/frames.js';
import { sha256 } from '../../src/domain/sha256.js';

type LaneFrame = PartialFrame | FinalFrame | FailFrame;

const open = (): LaneBuffer => openBuffer({ fragmentGapMs: 500, messageGapMs: 5000, limitChars: 256 });
const whole = (msgSeq: number, text: string): PartialFrame => fragment(msgSeq, 0, text, true);
const fragment = (msgSeq: number, fragSeq: number, text: string, last = false): PartialFrame => ({
  type: 'partial',
  msg_seq: msgSeq,
  frag_seq: fragSeq,
  last,
  text,
});
const final = (msgSeq: number, text?: string): FinalFrame => ({
  type: 'final',
  msg_seq: msgSeq,
  ...(text === undefined ? {} : { text }),
});
const fail = (msgSeq?: number): FailFrame => ({
  type: 'fail',
  code: 'EAGENTDOWN',
  message: 'gone',
  retryable: false,
  ...(msgSeq === undefined ? {} : { msg_seq: msgSeq }),
});

/** Plays frames, each at its own time or all at 0, and keeps what was delivered. State goes through JSON each time. */
const play = (frames: readonly (LaneFrame | [LaneFrame, number])[], from = open()) => {
  let buffer = from;
  const deliveries: Delivery[] = [];
  const outcomes: Received['outcome'][] = [];
  let problem: string | undefined;
  for (const entry of frames) {
    const [frame, now] = Array.isArray(entry) ? entry : ([entry, 0] as const);
    const before = JSON.stringify(buffer);
    const received = receive(buffer, frame, now);
    if (JSON.stringify(buffer) !== before) throw new Error('receive changed the state it was given');
    buffer = JSON.parse(JSON.stringify(received.buffer)) as LaneBuffer;
    deliveries.push(...received.deliveries);
    outcomes.push(received.outcome);
    problem = received.problem;
  }
  return { buffer, deliveries, outcomes, outcome: outcomes.at(-1), problem };
};
const textOf = (deliveries: readonly Delivery[]): string =>
  deliveries.map((delivery) => (delivery.type === 'text' ? delivery.text : `<${delivery.type}>`)).join('');

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length <= 1
    ? [[...items]]
    : items.flatMap((item, index) =>
        permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
      );

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

describe('a message gap', () => {
  test.each([
    [5000, ''],
    [5001, '<lost>b'],
  ])('is given up strictly later than its timeout: at %i ms "%s" is delivered', (now, text) => {
    expect(textOf(expire(play([whole(2, 'b')]).buffer, now).deliveries)).toBe(text);
  });
  test('is given up at the time that nextExpiry says, and not a millisecond earlier', () => {
    const { buffer } = play([[whole(2, 'b'), 70]]);
    const due = nextExpiry(buffer)!;
    expect(due).toBe(5071);
    expect(expire(buffer, due - 1).deliveries).toEqual([]);
    expect(expire(buffer, due).deliveries).not.toEqual([]);
    expect(nextExpiry(expire(buffer, due).buffer)).toBeNull();
  });
  test('counts every message it swallows', () => {
    const { buffer, deliveries } = expire(play([whole(1, 'a'), whole(5, 'e')]).buffer, 5001);
    expect(deliveries[0]).toEqual({ type: 'lost', msgSeq: 2, count: 3, what: 'message' });
    expect(buffer.lost).toBe(3);
  });
  test('costs no more when a billion messages are missing', () => {
    const { buffer } = expire(play([whole(1_000_000_000, 'z')]).buffer, 5001);
    expect(buffer.lost).toBe(999_999_999);
    expect(JSON.stringify(buffer).length).toBeLessThan(1000);
  });
  test('is followed by the next, one after another until contiguous', () => {
    const { buffer } = play([
      [whole(2, 'b'), 0],
      [whole(4, 'd'), 100],
      [whole(5, 'e'), 200],
      [whole(7, 'g'), 300],
    ]);
    expect(textOf(expire(buffer, 5001).deliveries)).toBe('<lost>b');
    expect(textOf(expire(buffer, 5101).deliveries)).toBe('<lost>b<lost>de');
    expect(textOf(expire(buffer, 9999).deliveries)).toBe('<lost>b<lost>de<lost>g');
    expect(nextExpiry(expire(buffer, 5001).buffer)).toBe(5101);
  });
  test('was seen when the first thing behind it came, even if something nearer came later', () => {
    const { buffer } = play([
      [whole(5, 'e'), 0],
      [whole(3, 'c'), 4000],
    ]);
    expect(nextExpiry(buffer)).toBe(5001);
    expect(textOf(expire(buffer, 5001).deliveries)).toBe('<lost>c<lost>e');
  });
  test('was seen with the first fragment behind it, not with the latest', () => {
    const { buffer } = play([
      [fragment(2, 0, 'a'), 0],
      [fragment(2, 1, 'b', true), 400],
    ]);
    expect(nextExpiry(buffer)).toBe(5001);
  });
  test('keeps its time when only part of it is filled', () => {
    const { buffer, deliveries } = play([
      [whole(4, 'd'), 0],
      [whole(1, 'a'), 4000],
    ]);
    expect(textOf(deliveries)).toBe('a');
    expect(nextExpiry(buffer)).toBe(5001);
  });
  test('that is filled in time costs nothing', () => {
    const { buffer, deliveries } = play([
      [whole(2, 'b'), 0],
      [whole(1, 'a'), 5000],
    ]);
    expect(textOf(deliveries)).toBe('ab');
    expect(buffer).toMatchObject({ lost: 0, late: 0 });
    expect(nextExpiry(buffer)).toBeNull();
  });
  test('that is filled a millisecond too late is lost even where no timer has fired', () => {
    const { buffer, deliveries, outcome } = play([
      [whole(2, 'b'), 0],
      [whole(1, 'a'), 5001],
    ]);
    expect(outcome).toBe('late');
    expect(textOf(deliveries)).toBe('<lost>b');
    expect(buffer).toMatchObject({ lost: 1, late: 1, duplicates: 0 });
  });
  test('never lets what comes late in behind what was delivered', () => {
    const { buffer } = expire(play([whole(2, 'b'), whole(3, 'c')]).buffer, 5001);
    const after = play(
      [
        [whole(1, 'a'), 5002],
        [whole(4, 'd'), 5003],
      ],
      buffer,
    );
    expect(after.outcomes).toEqual(['late', 'accepted']);
    expect(textOf(after.deliveries)).toBe('d');
  });
  test('holds a final back until it is given up', () => {
    const { buffer, deliveries } = play([whole(1, 'a'), final(3, 'answer')]);
    expect(textOf(deliveries)).toBe('a');
    expect(textOf(expire(buffer, 5001).deliveries)).toBe('<lost><final>');
  });
  test('may be configured to give up at once', () => {
    const buffer = openBuffer({ fragmentGapMs: 0, messageGapMs: 0, limitChars: 256 });
    expect(nextExpiry(receive(buffer, whole(2, 'b'), 10).buffer)).toBe(11);
  });
});

describe('a fragment gap', () => {
  const holed = [fragment(1, 0, 'a'), fragment(1, 2, 'c', true), whole(2, 'b')];

  test.each([
    [500, ''],
    [501, '<lost>b'],
  ])('loses its message whole, strictly later than its timeout: at %i ms "%s"', (now, text) => {
    const { buffer, deliveries } = expire(play(holed).buffer, now);
    expect(textOf(deliveries)).toBe(text);
    expect(buffer.lost).toBe(text === '' ? 0 : 1);
  });
  test('counts one lost message, however many fragments are missing', () => {
    const { buffer, deliveries } = expire(play([fragment(1, 0, 'a'), fragment(1, 9, 'c', true)]).buffer, 501);
    expect(buffer.lost).toBe(1);
    expect(deliveries).toEqual([{ type: 'lost', msgSeq: 1, count: 1, what: 'fragment' }]);
  });
  test('is filled up to its timeout', () => {
    const { deliveries } = play([...holed, [fragment(1, 1, 'b'), 500]]);
    expect(textOf(deliveries)).toBe('abcb');
  });
  test('counts its fragment as late past its timeout, and each further one', () => {
    const { buffer, outcomes } = play([...holed, [fragment(1, 1, 'b'), 501], [fragment(1, 1, 'b'), 502]]);
    expect(outcomes.slice(-2)).toEqual(['late', 'late']);
    expect(buffer).toMatchObject({ lost: 1, late: 2, duplicates: 0 });
  });
  test('opens when a later message comes before the last fragment', () => {
    const { buffer } = play([
      [fragment(1, 0, 'a'), 0],
      [whole(2, 'b'), 1000],
    ]);
    expect(nextExpiry(buffer)).toBe(1501);
    expect(textOf(expire(buffer, 1501).deliveries)).toBe('<lost>b');
  });
  test('is not open while fragments come in order, however slowly', () => {
    const { buffer } = play([
      [fragment(1, 0, 'a'), 0],
      [fragment(1, 1, 'b'), 100_000],
    ]);
    expect(textOf(play([[fragment(1, 2, 'c', true), 200_000]], buffer).deliveries)).toBe('abc');
  });
  test('has its own time behind a message gap, and the lost message keeps that gap open', () => {
    const { buffer } = play([[fragment(2, 1, 'x', true), 0]]);
    expect(nextExpiry(buffer)).toBe(501);
    const lost = expire(buffer, 501);
    expect(lost.deliveries).toEqual([]);
    expect(lost.buffer.lost).toBe(1);
    expect(nextExpiry(lost.buffer)).toBe(5001);
    expect(
      textOf(
        play(
          [
            [whole(1, 'a'), 600],
            [whole(3, 'c'), 600],
          ],
          lost.buffer,
        ).deliveries,
      ),
    ).toBe('a<lost>c');
    expect(play([[fragment(2, 0, 'x'), 600]], lost.buffer).outcome).toBe('late');
  });
  test('of a message that begins after a later one was seen has its whole time, and more with every fragment', () => {
    const { buffer } = play([
      [whole(2, 'z'), 0],
      [fragment(1, 0, 'a'), 3000],
    ]);
    expect(nextExpiry(buffer)).toBe(3501);
    expect(nextExpiry(play([[fragment(1, 1, 'b'), 3400]], buffer).buffer)).toBe(3901);
  });
  test('that closes one hole keeps the time of the next', () => {
    const { buffer } = play([
      [fragment(1, 1, 'b'), 0],
      [fragment(1, 3, 'd', true), 300],
      [fragment(1, 0, 'a'), 400],
    ]);
    expect(nextExpiry(buffer)).toBe(801);
  });
});

describe('an incomplete message that nothing more comes for', () => {
  const { buffer } = play([[fragment(1, 0, 'a'), 10]]);
  test('is given up after 300 s', () => {
    expect(nextExpiry(buffer)).toBe(10 + idleMessageMs + 1);
    expect(expire(buffer, 10 + idleMessageMs).deliveries).toEqual([]);
    const after = expire(buffer, 10 + idleMessageMs + 1);
    expect(after.buffer).toMatchObject({ lost: 1, waiting: [] });
    expect(receive(after.buffer, fragment(1, 1, 'b', true), 400_000).outcome).toBe('late');
  });
  test('starts anew with every fragment', () => {
    expect(nextExpiry(play([[fragment(1, 1, 'b'), 1000]], buffer).buffer)).toBe(1000 + idleMessageMs + 1);
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

describe('the acknowledgement', () => {
  test.each<[string, LaneFrame[], [number, number]]>([
    ['nothing', [], [0, -1]],
    ['a whole message', [whole(1, 'a')], [1, 0]],
    ['two', [whole(1, 'a'), whole(2, 'b')], [2, 0]],
    ['the first fragment', [whole(1, 'a'), fragment(2, 0, 'b')], [2, 0]],
    ['fragments up to a hole', [fragment(1, 0, 'a'), fragment(1, 1, 'b'), fragment(1, 3, 'c')], [1, 1]],
    ['a fragment behind a hole', [whole(1, 'a'), fragment(2, 1, 'b')], [1, 0]],
    ['a message behind a gap', [whole(1, 'a'), whole(3, 'c')], [1, 0]],
    ['a final', [whole(1, 'a'), final(2)], [2, 0]],
  ])('after %s', (_, frames, [msg_seq, frag_seq]) => {
    expect(ack(play(frames).buffer)).toEqual({ msg_seq, frag_seq });
  });
  test('stays where it was when the message it stands in is given up', () => {
    const { buffer } = play([fragment(1, 0, 'a'), fragment(1, 1, 'b')]);
    expect(ack(expire(buffer, idleMessageMs + 1).buffer)).toEqual({ msg_seq: 1, frag_seq: 1 });
  });
  test('never decreases, in any order, with losses', () => {
    const frames = [fragment(1, 0, 'a'), fragment(1, 1, 'b'), fragment(1, 3, 'd', true), whole(2, 'x'), whole(4, 'y')];
    for (const order of permutations(frames)) {
      let buffer = open();
      let last = ack(buffer);
      const check = (): void => {
        const next = ack(buffer);
        expect(next.msg_seq * 1000 + next.frag_seq).toBeGreaterThanOrEqual(last.msg_seq * 1000 + last.frag_seq);
        last = next;
      };
      for (const frame of order) {
        buffer = receive(buffer, frame, 0).buffer;
        check();
      }
      for (const now of [501, 5001, 400_000]) {
        buffer = expire(buffer, now).buffer;
        check();
      }
      expect(last).toEqual({ msg_seq: 4, frag_seq: 0 });
    }
  });
});

describe('the missing list', () => {
  test('is empty until the last fragment is known, then holds all holes until they are filled', () => {
    const steps: [LaneFrame, number[]][] = [
      [fragment(1, 1, 'b'), []],
      [fragment(1, 3, 'd'), []],
      [fragment(1, 4, 'e', true), [0, 2]],
      [fragment(1, 4, 'e', true), [0, 2]],
      [fragment(1, 0, 'a'), [2]],
      [fragment(1, 2, 'c'), []],
    ];
    let buffer = open();
    for (const [frame, holes] of steps) {
      buffer = receive(buffer, frame, 0).buffer;
      expect(missing(buffer)).toEqual(holes.map((frag_seq) => ({ msg_seq: 1, frag_seq })));
    }
  });
  test('names each message', () => {
    expect(missing(play([fragment(3, 1, 'x', true), fragment(2, 1, 'x', true)]).buffer)).toEqual([
      { msg_seq: 2, frag_seq: 0 },
      { msg_seq: 3, frag_seq: 0 },
    ]);
  });
  test('forgets a message that is lost', () => {
    expect(missing(expire(play([fragment(1, 1, 'x', true)]).buffer, 501).buffer)).toEqual([]);
  });
  test('has an end', () => {
    expect(missing(play([fragment(1, maxFragments - 1, 'x', true)]).buffer)).toHaveLength(maxMissing);
  });
});

describe('the buffer limit', () => {
  test.each([
    ['gold', 128],
    ['silver', 256],
    ['bronze', 512],
  ] as const)('of %s is %i characters', (tier, limit) => {
    expect(bufferLimit(tier)).toBe(limit);
  });
  test.each([
    [256, false],
    [257, true],
  ])('with %i characters behind a gap is passed: %s', (length, full) => {
    const { buffer } = play([whole(2, 'x'.repeat(length))]);
    expect(heldChars(buffer)).toBe(length);
    expect(isFull(buffer)).toBe(full);
    expect(overflows(open(), whole(2, 'x'.repeat(length)), 0)).toBe(full);
  });
  test('does not stop a long message that comes in order', () => {
    const { buffer } = play([0, 1, 2].map((seq) => fragment(1, seq, 'x'.repeat(200))));
    expect(heldChars(buffer)).toBe(600);
    expect(charsBehindGap(buffer)).toBe(0);
    expect(isFull(buffer)).toBe(false);
  });
  test('lets in what fills the gap, loses nothing, and then has room again', () => {
    const { buffer } = play([whole(2, 'x'.repeat(300))]);
    expect(overflows(buffer, whole(3, 'y'), 0)).toBe(true);
    expect(overflows(buffer, whole(1, 'a'), 0)).toBe(false);
    const after = play([whole(1, 'a')], buffer);
    expect(isFull(after.buffer)).toBe(false);
    expect(textOf(after.deliveries)).toBe(`a${'x'.repeat(300)}`);
  });
  test('refuses no copy and nothing late', () => {
    const { buffer } = play([whole(2, 'x'.repeat(300))]);
    expect(overflows(buffer, whole(2, 'x'.repeat(300)), 0)).toBe(false);
    expect(overflows(buffer, whole(1, 'y'), 6000)).toBe(false);
  });
});

describe('a buffer', () => {
  test('is plain JSON, whatever is in it', () => {
    const { buffer } = play([fragment(2, 1, 'b', true), final(4), [fragment(6, 0, 'x'), 501], whole(1, 'a')]);
    const { buffer: untouched } = receive(buffer, fail(9), 502);
    expect(untouched.waiting.length).toBeGreaterThan(2);
    expect(JSON.parse(JSON.stringify(untouched))).toEqual(untouched);
  });
});

describe('any stream of frames', () => {
  /** A small linear congruential generator: the same cases on every machine. */
  const random = (seed: number) => {
    let state = seed;
    return (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
  };
  test.each(Array.from({ length: 8 }, (_, seed) => [seed + 1]))(
    'is accounted for and delivered in ascending order (seed %i)',
    (seed) => {
      const below = random(seed);
      let buffer = open();
      const heard: Delivery[] = [];
      const outcomes = { accepted: 0, duplicate: 0, late: 0, refused: 0 };
      let now = 0;
      for (let step = 0; step < 300; step += 1) {
        now += below(400);
        const head = buffer.nextMsgSeq;
        const msgSeq = Math.max(1, head - 2 + below(6));
        const text = `${msgSeq} `;
        const frame = below(3) === 0 ? fragment(msgSeq, below(3), text, below(2) === 0) : whole(msgSeq, text);
        const received = receive(buffer, frame, now);
        buffer = received.buffer;
        outcomes[received.outcome] += 1;
        heard.push(...received.deliveries);
        const due = nextExpiry(buffer);
        const isTimely =
          due === null
            ? buffer.waiting.length === 0
            : due > now && expire(buffer, due - 1).buffer === buffer && expire(buffer, due).buffer !== buffer;
        if (!isTimely) throw new Error(`due ${due} at ${now}: ${JSON.stringify(buffer)}`);
      }
      const numbers = heard.flatMap((delivery) =>
        delivery.type === 'text' ? delivery.text.trim().split(' ').map(Number) : [],
      );
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      expect(numbers.length).toBeGreaterThan(0);
      expect(buffer).toMatchObject({ duplicates: outcomes.duplicate, late: outcomes.late, refused: outcomes.refused });
      const passed = heard.reduce((sum, each) => sum + (each.type === 'lost' ? each.count : 1), 0);
      expect(passed).toBe(buffer.nextMsgSeq - 1);
    },
  );
});
