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
  overflows,
  receive,
  type Delivery,
} from '../../../src/domain/frames.js';
import { fail, final, fragment, open, permutations, play, textOf, whole, type LaneFrame } from './play.js';

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
