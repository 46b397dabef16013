import type { NumberedEvent } from '../../src/contracts/events.js';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import type { SessionStatus } from '../../src/contracts/session-status.js';
import { startProduct, type Product } from '../support/product.js';
import { beat, external, lane, noEarlyExit, says, silence, silent } from '../support/session-bodies.js';
import { dataOf, follow, idsOf, listen, numbered, upTo, type Heard } from '../support/sse.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 60_000);
afterAll(async () => await product?.stop());

const eventsOf = (id: string): string => `${product.url}/v1/sessions/${id}/events`;
const cancel = async (id: string): Promise<void> => void (await product.post(`/v1/sessions/${id}/cancel`));

/** A session with something to tell at every beat. */
const eventful: OpenSessionBody = {
  prompt: 'Which colour?',
  lanes: [
    says('a', 'blue'),
    says('b', 'blue', 1),
    says('c', 'red', 2, { weight: 5 }),
    says('d', 'green', 3, { weight: 9 }),
    says('e', 'green', 4, { weight: 9 }),
    says('f', 'green', 5),
  ],
  policy: noEarlyExit,
};

/** A client on a bad line: it breaks off after so many numbered events, and comes back where it was. */
const reconnecting = async (id: string, breaksAfter: readonly number[]): Promise<NumberedEvent[]> => {
  const heard: NumberedEvent[] = [];
  for (const count of [...breaksAfter, Infinity]) {
    const part = await follow(eventsOf(id), heard.at(-1)?.id ?? 0, (sofar) => numbered(sofar).length >= count);
    heard.push(...numbered(part));
  }
  return heard;
};

describe('thirty clients of one session hear the same numbered events, without holes', () => {
  test('when they come at once, and when each breaks off three times', async () => {
    const { id } = await product.start(eventful);
    const clients = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        index % 2 === 0 ? reconnecting(id, []) : reconnecting(id, [1 + (index % 5), 3, 2]),
      ),
    );
    const [first] = clients;
    expect(idsOf(first!)).toEqual(upTo(first!.length));
    expect(dataOf(first!, 'revision')).toHaveLength(2);
    expect(dataOf(first!, 'final')).toHaveLength(1);
    expect(clients.filter((heard) => JSON.stringify(heard) !== JSON.stringify(first))).toEqual([]);
  });

  test('when they come after the end, from the first or from anywhere', async () => {
    const { id } = await product.run(eventful);
    const whole = await follow(eventsOf(id));
    expect(whole.at(-1)).toEqual({ event: 'end', id: null, data: { state: 'COMPLETE' } });
    const late = await Promise.all(
      Array.from({ length: 30 }, (_, index) => follow(eventsOf(id), index % whole.length)),
    );
    expect(late).toEqual(late.map((_, index) => whole.slice(index % whole.length)));
  });
});

/** The text of a lane as a client puts it together: each connection begins anew, each piece goes on where it says. */
const reassembled = (heard: readonly Heard[], laneId: string): string => {
  let text = '';
  for (const piece of dataOf(heard, 'partial')) {
    if (piece.lane_id !== laneId) continue;
    expect([piece.attempt, piece.offset]).toEqual([1, text.length]);
    text += piece.text;
  }
  return text;
};

describe('the text of a lane comes without loss or repeats', () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
  const text = words.join('');

  test('to a client that stays and to one that breaks off in mid-stream', async () => {
    const script = [...words.map((partial) => ({ after_ms: 20, partial })), ...silence];
    const { id } = await product.start({ prompt: 'Which colour?', lanes: [lane('a', script), silent('b')] });
    const stays = follow(eventsOf(id), 0, (heard) => reassembled(heard, 'a') === text);
    let since = 0;
    for (const share of [0.2, 0.4, 0.6]) {
      const part = await follow(eventsOf(id), since, (heard) => reassembled(heard, 'a').length >= share * text.length);
      expect(text.startsWith(reassembled(part, 'a'))).toBe(true);
      since = Math.max(since, ...idsOf(part));
    }
    const last = follow(eventsOf(id), since, (heard) => reassembled(heard, 'a') === text);
    for (const heard of await Promise.all([stays, last])) expect(reassembled(heard, 'a')).toBe(text);
    // One who comes late gets it in one piece.
    const late = await follow(eventsOf(id), since, (heard) => dataOf(heard, 'partial').length > 0);
    expect(dataOf(late, 'partial')).toEqual([{ lane_id: 'a', attempt: 1, offset: 0, text }]);
    await cancel(id);
  });

  test('from an external lane', async () => {
    const { id, lane_keys: keys } = await product.start({ prompt: 'Which colour?', lanes: [external('e')] });
    const stays = follow(eventsOf(id), 0, (heard) => reassembled(heard, 'e') === text);
    const post = (from: number, to: number) =>
      product.post(
        `/v1/sessions/${id}/lanes/e/frames`,
        {
          frames: words
            .slice(from, to)
            .map((word, index) => ({ type: 'partial', msg_seq: from + index + 1, text: word })),
        },
        { authorization: `Bearer ${keys?.['e']}` },
      );
    for (let from = 0; from < 30; from += 3) expect((await post(from, from + 3)).status).toBe(200);
    const breaksOff = await follow(eventsOf(id), 0, (heard) => reassembled(heard, 'e') !== '');
    expect(text.startsWith(reassembled(breaksOff, 'e'))).toBe(true);
    const comesBack = follow(eventsOf(id), 0, (heard) => reassembled(heard, 'e') === text);
    for (let from = 30; from < 60; from += 3) expect((await post(from, from + 3)).status).toBe(200);
    for (const heard of await Promise.all([stays, comesBack])) expect(reassembled(heard, 'e')).toBe(text);
    await cancel(id);
  });

  test('as its final when the stream was only half heard', async () => {
    const { id } = await product.start({
      prompt: 'Which colour?',
      lanes: [lane('a', [{ partial: 'bl' }, { after_ms: beat, partial: 'ue' }, { after_ms: beat, final: 'blue' }])],
    });
    const heard = await follow(eventsOf(id));
    expect(dataOf(heard, 'lane').at(-1)).toMatchObject({ lane_id: 'a', to: 'FINALIZED', answer: 'blue' });
  });
});

describe('a client that goes away', () => {
  test('costs nothing: the session and the others go on', async () => {
    const { id } = await product.start(eventful);
    for await (const { id: number } of listen(eventsOf(id))) if (number === 1) break;
    const status = await product.until(id, ({ result }) => result !== null);
    expect(status.result).toMatchObject({ answer: 'green', completed_count: 6 });
    // Nobody watches any more: the feed of this session is closed.
    await product.until(id, () => !product.bus.isWatched(id));
  });
});

describe('sixty sessions at once, of five lanes each,', () => {
  test('all complete, each with its own answer', async () => {
    const count = 60;
    const ended = await Promise.all(
      Array.from({ length: count }, async (_, number): Promise<SessionStatus> => {
        const ask = async () =>
          await product.post('/v1/sessions?wait=60', {
            id: `one-of-many-${number}`,
            prompt: `Which number? ${number}`,
            lanes: ['a', 'b', 'c', 'd', 'e'].map((id) =>
              lane(id, [
                { after_ms: 100, partial: 'num' },
                { after_ms: beat, final: `number ${number}` },
              ]),
            ),
            policy: { ...noEarlyExit, deadline_ms: 120_000 },
          });
        let { status, body } = await ask();
        // A machine that cannot keep up says so, and a client asks again: with its id, that starts nothing twice.
        for (let tries = 0; [202, 503].includes(status) && tries < 20; tries += 1) {
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          ({ status, body } = await ask());
        }
        expect([status, body]).toEqual([200, expect.anything()]);
        return body;
      }),
    );
    expect(new Set(ended.map(({ id }) => id)).size).toBe(count);
    const summary = ({ state, result, lanes }: SessionStatus): unknown[] => [
      state,
      result?.answer,
      result?.agreement,
      ...lanes.map((one) => one.state),
    ];
    expect(ended.map(summary)).toEqual(
      ended.map((_, number) => ['COMPLETE', `number ${number}`, 1, ...Array<string>(5).fill('FINALIZED')]),
    );
    for (const { id } of ended.filter((_, index) => index % 6 === 0)) {
      const heard = await follow(eventsOf(id));
      expect(idsOf(heard)).toEqual(upTo(numbered(heard).length));
      expect(dataOf(heard, 'final')).toHaveLength(1);
    }
  }, 120_000);
});
