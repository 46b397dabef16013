import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { LocalBus } from '../../src/bus/local.js';
import { decodeEnvelope, encodeEnvelope, notificationLimitBytes } from '../../src/bus/postgres-messages.js';
import { PostgresBus } from '../../src/bus/postgres.js';
import type { BusMessage } from '../../src/contracts/bus.js';
import { freePorts } from '../../temporal/server.js';
import { findPostgres } from '../support/parts.js';

const partial = (offset: number, text: string, lane_id = 'a'): BusMessage => ({
  type: 'partial',
  lane_id,
  attempt: 1,
  offset,
  text,
});

describe('the local bus', () => {
  test('delivers to the listeners of the topic only, in order', () => {
    const bus = new LocalBus();
    const heard: BusMessage[] = [];
    bus.subscribe('s1', (message) => heard.push(message));
    bus.publish('s2', { type: 'sync' });
    bus.publish('s1', { type: 'touched' });
    bus.publish('s1', partial(0, 'bl'));
    expect(heard).toEqual([{ type: 'touched' }, partial(0, 'bl')]);
  });

  test('is watched from the first subscription of a topic to the end of the last', () => {
    const bus = new LocalBus();
    const seen = [bus.isWatched('s1')];
    const endFirst = bus.subscribe('s1', () => {});
    const endSecond = bus.subscribe('s1', () => {});
    endFirst();
    seen.push(bus.isWatched('s1'));
    endSecond();
    seen.push(bus.isWatched('s1'));
    expect(seen).toEqual([false, true, false]);
  });

  test('reports a listener that throws and serves the others', () => {
    const errors: unknown[] = [];
    const heard: string[] = [];
    const bus = new LocalBus({ onError: (error, topic) => errors.push([topic, error]) });
    const fault = new Error('broken');
    bus.subscribe('error', () => {
      throw fault;
    });
    bus.subscribe('error', ({ type }) => heard.push(type));
    bus.publish('error', { type: 'touched' });
    expect({ errors, heard }).toEqual({ errors: [['error', fault]], heard: ['touched'] });
  });
});

describe('a notification', () => {
  test.each([
    ['one letter', 'a'],
    ['wide characters', 'ж'],
    ['pairs of code units', '😀'],
    ['escaped characters', '\u0001'],
  ])('of 20,000 times %s is split so that each part fits and offsets join', (_, unit) => {
    const text = unit.repeat(20_000);
    const parts = encodeEnvelope({
      from: 'me',
      topic: 's1',
      message: { type: 'partial', lane_id: 'a', attempt: 2, offset: 7, text },
    });
    let joined = '';
    for (const part of parts) {
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(notificationLimitBytes);
      const message = decodeEnvelope(part)?.message;
      if (message?.type !== 'partial') throw new Error('not a partial');
      expect(message).toMatchObject({ offset: 7 + joined.length, attempt: 2 });
      expect(() => encodeURIComponent(message.text)).not.toThrow(); // no half of a pair
      joined += message.text;
    }
    expect(joined).toBe(text);
  });

  test('that another program sent is not ours', () => {
    expect(['hello', '{}', 'null', '{"from":1}'].map(decodeEnvelope)).toEqual([null, null, null, null]);
  });
});

const postgres = findPostgres();
(postgres ? describe : describe.skip)('the PostgreSQL bus (needs postgres and initdb)', () => {
  let database: { url: string; stop: () => Promise<void> };
  const buses: PostgresBus[] = [];
  const errors: string[] = [];

  const connect = async (options: { renewMs?: number } = {}): Promise<PostgresBus> => {
    const bus = await PostgresBus.connect({
      url: database.url,
      onError: (_, what) => errors.push(what),
      reconnectMs: 10,
      batchMs: 5,
      ...options,
    });
    buses.push(bus);
    return bus;
  };
  /** Everything a topic hears, and a promise of the first message that `matches`. */
  const listen = (bus: PostgresBus, topic: string) => {
    const heard: BusMessage[] = [];
    const waiting = new Set<() => void>();
    bus.subscribe(topic, (message) => {
      heard.push(message);
      for (const check of waiting) check();
    });
    const until = (matches: (heard: BusMessage[]) => boolean): Promise<void> =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!matches(heard)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
    return { heard, until };
  };
  const textOf = (heard: BusMessage[]): string =>
    heard.map((message) => (message.type === 'partial' ? message.text : '')).join('');
  const syncIsKnown = async (watcher: PostgresBus, writer: PostgresBus, topic: string): Promise<void> => {
    const { until } = listen(writer, topic);
    watcher.publish(topic, { type: 'sync' });
    await until((heard) => heard.some(({ type }) => type === 'sync'));
  };

  beforeAll(async () => {
    database = await startPostgres(postgres!);
  });
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()));
    errors.length = 0;
  });
  afterAll(() => database?.stop());

  test('carries a message to the other process once and to its own listeners once', async () => {
    const [one, two] = [await connect(), await connect()];
    const [here, there] = [listen(one, 's1'), listen(two, 's1')];
    one.publish('s1', { type: 'touched' });
    one.publish('s1', { type: 'directed' });
    await there.until((heard) => heard.length === 2);
    two.publish('s1', { type: 'directed' });
    await here.until((heard) => heard.length === 3);
    expect({ here: here.heard, there: there.heard }).toEqual({
      here: [{ type: 'touched' }, { type: 'directed' }, { type: 'directed' }],
      there: [{ type: 'touched' }, { type: 'directed' }, { type: 'directed' }],
    });
  });

  test('keeps text at home until another process asks for it', async () => {
    const [gateway, worker] = [await connect(), await connect()];
    const there = listen(gateway, 's1');
    expect(worker.isWatched('s1')).toBe(false);
    worker.publish('s1', partial(0, 'unseen'));
    await syncIsKnown(gateway, worker, 's1');
    expect(worker.isWatched('s1')).toBe(true);
    worker.publish('s1', partial(6, 'seen'));
    await there.until((heard) => textOf(heard).includes('seen'));
    expect(there.heard.filter(({ type }) => type === 'partial')).toEqual([partial(6, 'seen')]);
  });

  test('joins the text of a batch, and sends it before what comes after it', async () => {
    const [gateway, worker] = [await connect(), await connect()];
    const there = listen(gateway, 's1');
    await syncIsKnown(gateway, worker, 's1');
    for (const [index, letter] of 'blue'.split('').entries()) worker.publish('s1', partial(index, letter));
    worker.publish('s1', partial(0, 'red', 'b'));
    worker.publish('s1', { type: 'touched' });
    await there.until((heard) => heard.some(({ type }) => type === 'touched'));
    expect(there.heard.slice(1)).toEqual([partial(0, 'blue'), partial(0, 'red', 'b'), { type: 'touched' }]);
  });

  test('carries a text longer than a notification whole', async () => {
    const [gateway, worker] = [await connect(), await connect()];
    const there = listen(gateway, 's1');
    await syncIsKnown(gateway, worker, 's1');
    const text = 'жук '.repeat(5_000);
    worker.publish('s1', partial(0, text));
    await there.until((heard) => textOf(heard).length >= text.length);
    expect(textOf(there.heard)).toBe(text);
  });

  test('forgets an interest that is not renewed', async () => {
    const [gateway, worker] = [await connect({ renewMs: 20 }), await connect({ renewMs: 20 })];
    const end = gateway.subscribe('s1', () => {});
    await syncIsKnown(gateway, worker, 's1');
    end();
    while (worker.isWatched('s1')) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(gateway.isWatched('s1')).toBe(false);
  });

  test('comes back after the database dropped it, and makes its listeners ask again', async () => {
    const [gateway, worker] = [await connect(), await connect()];
    const there = listen(gateway, 's1');
    await syncIsKnown(gateway, worker, 's1');
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'parley'`);
    await admin.end();
    await there.until((heard) => heard.some(({ type }) => type === 'touched'));
    const here = listen(worker, 's2');
    await Promise.race([
      here.until((heard) => heard.some(({ type }) => type === 'directed')),
      (async () => {
        while (here.heard.length === 0) {
          gateway.publish('s2', { type: 'directed' });
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      })(),
    ]);
    expect(errors).toContain('the connection to PostgreSQL was lost; connecting again');
  });

  test('refuses a wrong address at once', async () => {
    await expect(PostgresBus.connect({ url: 'postgres://nobody@127.0.0.1:9/none' })).rejects.toThrow(/ECONNREFUSED/);
  });
});

/** A server of its own in a temporary folder. PostgreSQL refuses to run as root, so root lends it another user. */
async function startPostgres({ initdb, postgres: program }: { initdb: string; postgres: string }) {
  const folder = await mkdtemp(join(tmpdir(), 'parley-postgres-'));
  const nobody = 65_534;
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  if (user.uid !== undefined) await chown(folder, nobody, nobody);
  const [port] = (await freePorts(1)) as [number];
  const data = join(folder, 'data');
  await promisify(execFile)(initdb, ['-D', data, '-U', 'parley', '-A', 'trust', '--no-sync'], user);
  const server: ChildProcess = spawn(
    program,
    ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', folder, '-c', 'fsync=off'],
    { ...user, stdio: 'ignore' },
  );
  const exited = new Promise((resolve) => server.once('exit', resolve));
  const url = `postgres://parley@127.0.0.1:${port}/postgres`;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    const error: unknown = await client.connect().then(
      () => null,
      (reason: unknown) => reason,
    );
    await client.end().catch(() => undefined); // it may never have stood
    if (error === null) break;
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    stop: async () => {
      server.kill('SIGINT'); // fast shutdown
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
