import { expire, idleMessageMs, nextExpiry, openBuffer, receive } from '../../../src/domain/frames.js';
import { final, fragment, play, textOf, whole } from './play.js';

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
