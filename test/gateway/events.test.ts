import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createParser } from 'eventsource-parser';
import request from 'supertest';
import { ParleyError } from '../../src/domain/errors.js';
import type { OpenSessionBody } from '../../src/contracts/session.js';
import { listen } from '../../src/gateway/listen.js';
import type { HubOptions } from '../../src/gateway/events-hub.js';
import type { SseMessage } from '../../src/gateway/sse.js';
import { aSession, createRig } from './rig.js';

/** A rig with one session `s1` in it; nothing is asked by the clock unless a test wants it. */
const withSession = async (hub: Partial<HubOptions> = {}, body: Partial<OpenSessionBody> = {}) => {
  const rig = createRig({ hub: { pollMs: 60_000, ...hub } });
  await request(rig.app)
    .post('/v1/sessions')
    .send(aSession({ id: 's1', ...body }));
  return rig;
};
type Rig = Awaited<ReturnType<typeof withSession>>;

const touch = (rig: Rig): void => rig.bus.publish('s1', { type: 'touched' });
const say = (rig: Rig, offset: number, text: string, attempt = 1): void =>
  rig.bus.publish('s1', { type: 'partial', lane_id: 'a', attempt, offset, text });

/** One client, which takes messages one by one. */
const watch = async (rig: Rig, since = 0) => {
  const gone = new AbortController();
  const messages = await rig.ports.hub.watch(rig.sessions, 's1', since, {
    signal: gone.signal,
    draining: rig.draining.signal,
  });
  const iterator = messages[Symbol.asyncIterator]();
  const next = async (): Promise<SseMessage | null> => {
    const { value, done } = await iterator.next();
    return done ? null : value;
  };
  expect(await next()).toEqual({ retry: 1000, comment: 'parley' });
  return {
    next,
    take: async (count: number) => {
      const taken: (SseMessage | null)[] = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    rest: async () => {
      const taken: SseMessage[] = [];
      for (let message = await next(); message !== null; message = await next()) taken.push(message);
      return taken;
    },
    leave: () => gone.abort(),
  };
};
const ids = (messages: readonly (SseMessage | null)[]) => messages.map((message) => message?.id ?? message?.event);

describe('a client that follows a session', () => {
  test('gets what has been, then what comes, then the end', async () => {
    const rig = await withSession();
    rig.sessions.log('s1', 'one');
    const client = await watch(rig);
    expect(await client.next()).toMatchObject({ id: 1, event: 'log', data: { message: 'one' } });
    rig.sessions.log('s1', 'two');
    touch(rig);
    expect(await client.next()).toMatchObject({ id: 2, event: 'log' });
    rig.sessions.move('s1', 'COMPLETE');
    touch(rig);
    expect(await client.rest()).toMatchObject([
      { id: 3, event: 'state' },
      { event: 'end', data: { state: 'COMPLETE' } },
    ]);
  });

  test.each<[number, (number | string)[]]>([
    [0, [1, 2, 3, 4, 'end']],
    [2, [3, 4, 'end']],
    [4, ['end']],
    [99, ['end']],
  ])('after the end, from %i, gets %j', async (since, expected) => {
    const rig = await withSession();
    for (const message of ['one', 'two', 'three']) rig.sessions.log('s1', message);
    rig.sessions.move('s1', 'COMPLETE');
    expect(ids(await (await watch(rig, since)).rest())).toEqual(expected);
    // And the same from memory.
    expect(ids(await (await watch(rig, since)).rest())).toEqual(expected);
  });

  test('asks one question at a time from the first on, and misses no hint that comes meanwhile', async () => {
    const rig = await withSession();
    rig.sessions.log('s1', 'one');
    const events = rig.sessions.events.bind(rig.sessions);
    let [under, most] = [0, 0];
    rig.sessions.events = async (...question) => {
      under += 1;
      most = Math.max(most, under);
      const answer = await events(...question);
      if (rig.sessions.asked.length === 1) {
        rig.sessions.log('s1', 'two');
        touch(rig);
      }
      await new Promise((resolve) => setImmediate(resolve));
      under -= 1;
      return answer;
    };
    const client = await watch(rig);
    expect(ids(await client.take(2))).toEqual([1, 2]);
    expect(most).toBe(1);
    client.leave();
  });

  test.each([true, false])(
    'from beyond the last number gets what comes from now on, told that number: %s',
    async (told) => {
      const rig = await withSession();
      rig.sessions.tellsLast = told;
      for (let count = 1; count <= 6; count += 1) rig.sessions.log('s1', String(count));
      rig.sessions.firstId = 5;
      for (const since of [99, 6]) {
        const client = await watch(rig, since);
        rig.sessions.log('s1', 'later');
        touch(rig);
        expect(await client.next()).toMatchObject({ data: { message: 'later' } });
        client.leave();
      }
      // Who is told it reads nothing of earlier runs for that.
      expect(rig.sessions.asked.some(({ runId }) => runId === 'earlier')).toBe(!told);
      const older = await watch(rig, 0);
      expect(ids(await older.take(8))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
      older.leave();
    },
  );

  test('that comes back misses nothing and gets nothing twice, wherever it broke off', async () => {
    for (let broke = 0; broke <= 6; broke += 1) {
      const rig = await withSession();
      for (let count = 1; count <= 3; count += 1) rig.sessions.log('s1', String(count));
      const other = await watch(rig);
      const first = await watch(rig);
      const before = await first.take(Math.min(broke, 3));
      first.leave();
      for (let count = 4; count <= 5; count += 1) rig.sessions.log('s1', String(count));
      rig.sessions.move('s1', 'COMPLETE');
      touch(rig);
      const last = before.at(-1)?.id ?? 0;
      const after = await (await watch(rig, last)).rest();
      expect([...ids(before), ...ids(after)]).toEqual([1, 2, 3, 4, 5, 6, 'end']);
      expect(ids(await other.rest())).toEqual([1, 2, 3, 4, 5, 6, 'end']);
    }
  });

  test('gets the text so far first, and every later piece once', async () => {
    const rig = await withSession();
    const early = await watch(rig);
    say(rig, 0, 'bl');
    expect(await early.next()).toEqual({ event: 'partial', data: { lane_id: 'a', attempt: 1, offset: 0, text: 'bl' } });
    say(rig, 2, 'ue');
    const late = await watch(rig);
    expect(await late.next()).toEqual({
      event: 'partial',
      data: { lane_id: 'a', attempt: 1, offset: 0, text: 'blue' },
    });
    expect(await early.next()).toEqual({ event: 'partial', data: { lane_id: 'a', attempt: 1, offset: 2, text: 'ue' } });
    early.leave();
    late.leave();
  });

  test('that is slow gets the text it missed in one piece, and no durable event less', async () => {
    const rig = await withSession();
    const slow = await watch(rig);
    say(rig, 0, 'a');
    expect(await slow.next()).toMatchObject({ data: { text: 'a' } });
    for (let offset = 1; offset <= 500; offset += 1) say(rig, offset, 'x');
    for (let count = 1; count <= 20; count += 1) rig.sessions.log('s1', String(count));
    touch(rig);
    await rig.ports.sessions.status('s1');
    expect(await slow.next()).toMatchObject({ data: { offset: 1, text: 'x'.repeat(500) } });
    expect(ids(await slow.take(20))).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    slow.leave();
  });

  test('hears of a restarted lane by its attempt', async () => {
    const rig = await withSession();
    const client = await watch(rig);
    say(rig, 0, 'blu');
    await client.next();
    say(rig, 0, 'gr', 2);
    expect(await client.next()).toMatchObject({ data: { attempt: 2, offset: 0, text: 'gr' } });
    client.leave();
  });

  test('gets the text of an external lane, which no worker streams', async () => {
    const rig = await withSession({}, { lanes: [{ lane_id: 'e', adapter: { kind: 'external' } }] });
    rig.sessions.held.get('s1')!.texts['e'] = 'bl';
    const client = await watch(rig);
    expect(await client.next()).toMatchObject({ event: 'partial', data: { lane_id: 'e', offset: 0, text: 'bl' } });
    // A piece was lost on its way here: the workflow has it all.
    rig.sessions.held.get('s1')!.texts['e'] = 'blue?';
    rig.bus.publish('s1', { type: 'partial', lane_id: 'e', attempt: 1, offset: 4, text: '?' });
    expect(await client.next()).toMatchObject({ event: 'partial', data: { lane_id: 'e', offset: 2, text: 'ue?' } });
    client.leave();
  });

  test('is told to come back when the gateway drains', async () => {
    const rig = await withSession();
    const client = await watch(rig);
    rig.draining.abort();
    expect(await client.rest()).toEqual([{ comment: 'this gateway stops; connect again' }]);
  });

  test('does not wait for ever on a session that was terminated', async () => {
    const rig = await withSession({ pollMs: 1 });
    const client = await watch(rig);
    rig.sessions.held.get('s1')!.closedAs = 'TERMINATED';
    expect(await client.rest()).toEqual([{ event: 'end', data: { state: 'TERMINATED' } }]);
    expect(await (await watch(rig)).rest()).toEqual([{ event: 'end', data: { state: 'TERMINATED' } }]);
  });

  test('gets the events of earlier runs when the session has continued as new', async () => {
    const rig = await withSession();
    for (let count = 1; count <= 6; count += 1) rig.sessions.log('s1', String(count));
    rig.sessions.firstId = 5;
    const client = await watch(rig, 2);
    expect(ids(await client.take(4))).toEqual([3, 4, 5, 6]);
    const older = await watch(rig, 0);
    expect(ids(await older.take(6))).toEqual([1, 2, 3, 4, 5, 6]);
    client.leave();
    older.leave();
  });

  test('gets events that were let go from memory', async () => {
    const rig = await withSession({ keepEvents: 3 });
    for (let count = 1; count <= 8; count += 1) rig.sessions.log('s1', String(count));
    const client = await watch(rig);
    expect(ids(await client.take(8))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    client.leave();
  });
});

describe('the hub', () => {
  test('has one subscription and asks once, however many watch', async () => {
    const rig = await withSession();
    const clients = await Promise.all(Array.from({ length: 20 }, () => watch(rig)));
    expect(rig.ports.hub.openFeeds).toBe(1);
    const asked = rig.sessions.asked.length;
    rig.sessions.log('s1', 'one');
    touch(rig);
    for (const client of clients) expect(await client.next()).toMatchObject({ id: 1 });
    expect(rig.sessions.asked.length).toBe(asked + 1);
    for (const client of clients) client.leave();
    expect(rig.ports.hub.openFeeds).toBe(0);
    expect(rig.bus.isWatched('s1')).toBe(false);
  });

  test('answers a burst of hints with at most one question more', async () => {
    const rig = await withSession();
    const client = await watch(rig);
    const asked = rig.sessions.asked.length;
    rig.sessions.log('s1', 'one');
    for (let count = 0; count < 50; count += 1) touch(rig);
    expect(await client.next()).toMatchObject({ id: 1 });
    rig.sessions.log('s1', 'two');
    touch(rig);
    expect(await client.next()).toMatchObject({ id: 2 });
    expect(rig.sessions.asked.length - asked).toBeLessThanOrEqual(4);
    client.leave();
  });

  test('asks without a hint, and goes on after Temporal was away', async () => {
    const errors: unknown[] = [];
    const rig = await withSession({ pollMs: 1, onError: (error) => errors.push(error) });
    const client = await watch(rig);
    rig.sessions.failing.events = new ParleyError('unavailable', 'away');
    while (errors.length === 0) await new Promise(setImmediate);
    rig.sessions.log('s1', 'one');
    delete rig.sessions.failing.events;
    expect(await client.next()).toMatchObject({ id: 1 });
    client.leave();
  });

  test('asks workers for the whole text when a piece is missing', async () => {
    const rig = await withSession();
    const asked: string[] = [];
    const client = await watch(rig);
    const again = new Promise<void>((resolve) => {
      rig.bus.subscribe('s1', ({ type }) => {
        if (type === 'sync') {
          asked.push(type);
          say(rig, 0, 'abcdef');
          resolve();
        }
      });
    });
    say(rig, 3, 'def');
    await again;
    expect(await client.next()).toMatchObject({ data: { offset: 0, text: 'abcdef' } });
    expect(asked).toHaveLength(1);
    client.leave();
  });

  test('keeps ended work for those who come late, the latest used longest', async () => {
    const rig = await withSession({ keepEnded: 1 });
    rig.sessions.move('s1', 'COMPLETE');
    await (await watch(rig)).rest();
    const asked = rig.sessions.asked.length;
    await (await watch(rig)).rest();
    expect(rig.sessions.asked.length).toBe(asked);
  });

  test('leaves nothing behind for work that is not there', async () => {
    const rig = createRig();
    await expect(
      rig.ports.hub.watch(rig.sessions, 'no', 0, {
        signal: new AbortController().signal,
        draining: rig.draining.signal,
      }),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect([rig.ports.hub.openFeeds, rig.bus.isWatched('no')]).toEqual([0, false]);
  });
});

describe('over HTTP', () => {
  const follow = async (url: string, headers: Record<string, string> = {}) => {
    const asked = get(url, { headers });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const events: { event: string | undefined; id: string | undefined }[] = [];
    const comments: string[] = [];
    const parser = createParser({
      onEvent: ({ event, id }) => events.push({ event, id }),
      onComment: (comment) => comments.push(comment),
    });
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => parser.feed(chunk));
    return { asked, response, events, comments };
  };

  test.each<[string, string, Record<string, string>, (string | undefined)[]]>([
    ['the header', '', { 'Last-Event-ID': '1' }, ['2', undefined]],
    ['the query', '?last_event_id=1', {}, ['2', undefined]],
    ['the header before the query', '?last_event_id=2', { 'Last-Event-ID': '0' }, ['1', '2', undefined]],
  ])('resumes after %s and closes with the end', async (_, query, headers, expected) => {
    const rig = await withSession();
    rig.sessions.log('s1', 'one');
    rig.sessions.move('s1', 'COMPLETE');
    const gateway = await listen({ ...rig.ports, config: { ...rig.config, port: 0 } }, rig.logger);
    const { response, events } = await follow(`${gateway.url}/v1/sessions/s1/events${query}`, headers);
    await once(response, 'end');
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(events.map(({ id }) => id)).toEqual(expected);
    expect(events.at(-1)?.event).toBe('end');
    await gateway.close();
  });

  test('a client that goes away is forgotten; a drain ends the others and may be asked for twice', async () => {
    const rig = await withSession();
    const gateway = await listen({ ...rig.ports, config: { ...rig.config, port: 0 } }, rig.logger);
    const url = `${gateway.url}/v1/sessions/s1/events`;
    const [leaves, stays] = [await follow(url), await follow(url)];
    leaves.asked.destroy();
    const ended = once(stays.response, 'end');
    await Promise.all([gateway.close(), gateway.close(), ended]);
    expect(stays.comments.at(-1)).toBe('this gateway stops; connect again');
    expect(stays.events).toEqual([]);
    while (rig.ports.hub.openFeeds > 0) await new Promise(setImmediate);
    expect(rig.bus.isWatched('s1')).toBe(false);
  });

  test('a quiet stream is kept alive by comments', async () => {
    const rig = createRig({ hub: { pollMs: 60_000 }, heartbeatMs: 5 });
    await request(rig.app)
      .post('/v1/sessions')
      .send(aSession({ id: 's1' }));
    const server = rig.app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { asked, response, comments } = await follow(`http://127.0.0.1:${port}/v1/sessions/s1/events`);
    while (comments.filter((comment) => comment === 'beat').length < 2) await once(response, 'data');
    asked.destroy();
    server.close();
    await once(server, 'close');
  });

  test('a taken port is an error that names it and PORT', async () => {
    const rig = createRig();
    const gateway = await listen({ ...rig.ports, config: { ...rig.config, port: 0 } }, rig.logger);
    const port = Number(new URL(gateway.url).port);
    await expect(listen({ ...rig.ports, config: { ...rig.config, port } }, rig.logger)).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is taken. Set PORT to a free one`,
    );
    await gateway.close();
  });
});
