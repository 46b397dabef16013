import { join } from 'node:path';
import { createMemoryActivities } from '../../../activities/memory/activities.js';
import { hashingEmbedder } from '../../../activities/memory/hashing-embedder.js';
import { JoinedMemory } from '../../../activities/memory/joined.js';
import { MongoMirror } from '../../../activities/memory/mongo.js';
import { SqliteMemory } from '../../../activities/memory/sqlite.js';
import type { MirrorPort, SimilarTrace } from '../../../src/contracts/memory.js';
import { ParleyError } from '../../../src/domain/errors.js';
import { startFerretDb, type MongoServer } from '../../support/ferretdb.js';
import { findFerretDb } from '../../support/parts.js';
import { aFolder, aTrace, change, minute, shop, traceId } from './traces.js';

const describeWithServer = findFerretDb() === null ? describe.skip : describe;
const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

const aMemory = (): SqliteMemory => {
  const memory = new SqliteMemory(join(aFolder(), 'memory.db'), {
    embedder: hashingEmbedder,
    onError: () => undefined,
  });
  closers.push(() => memory.close());
  return memory;
};

/** A worker's activities with a file of its own; `heard` is what it was told of. */
const aWorker = (mirror: MirrorPort | null) => {
  const memory = aMemory();
  const heard: string[] = [];
  const onError = (_: unknown, what: string): void => void heard.push(what);
  const reader = new JoinedMemory({ memory, mirror }, onError);
  return { ...createMemoryActivities({ memory, mirror, onError }), memory, reader, heard };
};

const names = (found: SimilarTrace[]): string[] => found.map(({ work_id }) => work_id.replace('debate-', ''));
const query = { tenant: 'default', task: 'Rename the login button', personas: ['critic', 'nobody'], topK: 5 };

describe('memory without MongoDB', () => {
  test('loads what was stored, and says that none is configured', async () => {
    const worker = aWorker(null);
    expect(await worker.storeTrace(aTrace('a'))).toEqual({ stored: true });
    expect(await worker.storeTrace(aTrace('a'))).toEqual({ stored: false });
    expect(await worker.mirrorTrace(aTrace('a'))).toEqual({ mongo: false, error: null });
    const context = await worker.loadContext(query);
    expect(context).toMatchObject({
      ratings: {
        critic: { elo: 1210, matches: 1, successes: 1 },
        nobody: { elo: 1200, matches: 0, successes: 0 },
      },
      mongo: null,
      error: null,
    });
    expect(names(context.similar)).toEqual(['a']);
    expect(await worker.loadRatings({ tenant: 'default', personas: ['critic'] })).toEqual({
      critic: { elo: 1210, matches: 1, successes: 1 },
    });
  });
});

/** A mirror that is away, as a MongoDB that nobody answers for. */
const away = (): MongoMirror => {
  const mirror = new MongoMirror('mongodb://127.0.0.1:9/parley', {
    embedder: hashingEmbedder,
    onError: () => undefined,
  });
  closers.push(() => mirror.close());
  return mirror;
};

describe('memory whose MongoDB is away', () => {
  test('stores and loads from its own file, and says what is missing', async () => {
    const worker = aWorker(away());
    await worker.storeTrace(aTrace('a'));
    const context = await worker.loadContext(query);
    expect(context).toMatchObject({ ratings: { critic: { elo: 1210 } }, mongo: false });
    expect(context.error).toContain('MongoDB cannot be reached');
    expect(names(context.recent)).toEqual(['a']);
    expect(worker.heard).toEqual(['MongoDB could not be asked; memory answers from this machine alone']);
  });

  test('rejects a mirroring as one that may succeed later, and keeps the trace for it', async () => {
    const worker = aWorker(away());
    await worker.storeTrace(aTrace('a'));
    const error: unknown = await worker.mirrorTrace(aTrace('a')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ParleyError);
    expect(error).toMatchObject({ code: 'unavailable', retryable: true });
    expect((await worker.memory.unmirrored(5)).map(({ trace_id }) => trace_id)).toEqual([traceId('a')]);
  });

  test('answers readers from its own file', async () => {
    const { reader, storeTrace } = aWorker(away());
    await storeTrace(aTrace('a'));
    expect(names(await reader.search({ tenant: 'default', text: 'orders', limit: 5 }))).toEqual(['a']);
    expect(await reader.trace('default', traceId('a'))).toEqual(aTrace('a'));
    expect(await reader.trace('default', traceId('b'))).toBeNull();
    expect(await reader.ratings('default')).toHaveLength(2);
  });
});

describeWithServer('two workers that share MongoDB (needs FerretDB)', () => {
  let server: MongoServer;
  beforeAll(async () => {
    server = await startFerretDb();
  });
  afterAll(() => server.close());

  const workers = (database: string) => {
    const mirror = (): MongoMirror => {
      const made = new MongoMirror(server.uri + database, { embedder: hashingEmbedder, onError: () => undefined });
      closers.push(() => made.close());
      return made;
    };
    return [aWorker(mirror()), aWorker(mirror())] as const;
  };

  test('have one rating for each persona, and each other’s traces', async () => {
    const [one, other] = workers('shared');
    for (const [worker, name, task, n] of [
      [one, 'a', 'Rename the login button', 1],
      [other, 'b', 'Rename the log-out button', 2],
    ] as const) {
      const trace = shop(name, task, { elo_changes: [change('critic', 10)], created_at: minute(n) });
      await worker.storeTrace(trace);
      await worker.mirrorTrace(trace);
    }
    for (const worker of [one, other]) {
      const context = await worker.loadContext(query);
      expect(context).toMatchObject({ ratings: { critic: { elo: 1220, matches: 2 } }, mongo: true, error: null });
      expect(names(context.similar)).toEqual(['a', 'b']);
      expect(names(context.recent)).toEqual(['b', 'a']);
      expect(names(await worker.reader.search({ tenant: 'default', text: 'login', limit: 1 }))).toEqual(['a']);
      expect(names(await worker.reader.search({ tenant: 'default', text: '', limit: 5 }))).toEqual(['b', 'a']);
      expect(await worker.reader.trace('default', traceId('b'))).not.toBeNull();
      expect(await worker.loadRatings({ tenant: 'default', personas: ['critic'] })).toMatchObject({
        critic: { elo: 1220 },
      });
    }
  });

  test('count a trace once that one of them could not mirror yet, or mirrored without noting it', async () => {
    const [one, other] = workers('pending');
    const noted = aTrace('noted', { elo_changes: [change('critic', 10)] });
    await one.storeTrace(noted);
    await one.mirrorTrace(noted);
    await one.storeTrace(aTrace('pending', { elo_changes: [change('critic', 5)] }));
    // As when the worker dies between MongoDB's answer and its own note.
    const unnoted = aTrace('unnoted', { elo_changes: [change('critic', 25)] });
    await other.storeTrace(unnoted);
    await one.storeTrace(unnoted);
    await other.mirrorTrace(unnoted);
    expect((await one.reader.ratings('default'))[0]).toMatchObject({ persona_id: 'critic', elo: 1240, matches: 3 });
    expect((await other.reader.ratings('default'))[0]).toMatchObject({ persona_id: 'critic', elo: 1235, matches: 2 });
  });

  test('catch up with the next trace after MongoDB was away', async () => {
    const [one, other] = workers('late');
    await server.stop();
    for (const name of ['a', 'b', 'c']) await one.storeTrace(aTrace(name));
    await expect(one.mirrorTrace(aTrace('a'))).rejects.toThrow('MongoDB cannot be reached');
    await server.start();
    await one.storeTrace(aTrace('d'));
    expect(await one.mirrorTrace(aTrace('d'))).toEqual({ mongo: true, error: null });
    expect(await one.memory.unmirrored(5)).toEqual([]);
    expect((await other.reader.ratings('default'))[0]).toMatchObject({ persona_id: 'critic', matches: 4 });
  });
});
