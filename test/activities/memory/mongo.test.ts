import { MongoClient, MongoError } from 'mongodb';
import { hashingEmbedder } from '../../../activities/memory/hashing-embedder.js';
import { MongoMirror, timeoutsBeside } from '../../../activities/memory/mongo.js';
import { explained } from '../../../activities/memory/mongo-errors.js';
import { cosineOfScore, VectorIndex, vectorSearchStages } from '../../../activities/memory/mongo-vectors.js';
import type { SimilarTrace, TraceRecord } from '../../../src/contracts/memory.js';
import { ParleyError } from '../../../src/domain/errors.js';
import { startCuttableProxy } from '../../support/cuttable-proxy.js';
import { startFerretDb, type MongoServer } from '../../support/ferretdb.js';
import { findFerretDb } from '../../support/parts.js';
import { aTrace, change, minute, shop, traceId } from './traces.js';

const describeWithServer = findFerretDb() === null ? describe.skip : describe;
const mirrors: MongoMirror[] = [];

const aMirror = (uri: string): MongoMirror => {
  const mirror = new MongoMirror(uri, { embedder: hashingEmbedder, onError: () => undefined });
  mirrors.push(mirror);
  return mirror;
};

afterAll(async () => {
  for (const mirror of mirrors) await mirror.close();
});

const names = (found: SimilarTrace[]): string[] => found.map(({ work_id }) => work_id.replace('debate-', ''));

const failureOf = async (work: Promise<unknown>): Promise<ParleyError> => {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ParleyError)) throw new Error(`no ParleyError but ${String(error)}`);
  return error;
};

describeWithServer('memory in MongoDB (needs FerretDB)', () => {
  let server: MongoServer;
  beforeAll(async () => {
    server = await startFerretDb();
  });
  afterAll(() => server.close());
  /** A database of the test's own. */
  const uriOf = (name: string): string => `${server.uri}${name}`;

  const mirrored = async (mirror: MongoMirror, ...traces: TraceRecord[]): Promise<void> => {
    for (const trace of traces) await mirror.mirror(trace);
  };

  test('gives a trace back as it was mirrored, to its tenant alone', async () => {
    const mirror = aMirror(uriOf('back'));
    expect(await mirror.mirror(aTrace('a'))).toEqual({ stored: true });
    expect(await mirror.trace('default', traceId('a'))).toEqual(aTrace('a'));
    expect(await mirror.trace('acme', traceId('a'))).toBeNull();
  });

  test('keeps a trace once, however often and from however many machines it is mirrored', async () => {
    const [one, other] = [aMirror(uriOf('once')), aMirror(uriOf('once'))];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? one : other).mirror(aTrace('a'))),
    );
    expect(answers.filter(({ stored }) => stored)).toHaveLength(1);
    expect(await one.ratings('default', [])).toEqual([
      { persona_id: 'critic', elo: 1210, matches: 1, successes: 1 },
      { persona_id: 'solution', elo: 1190, matches: 1, successes: 1 },
    ]);
  });

  test('completes a trace of which only the changes of ratings had arrived', async () => {
    const mirror = aMirror(uriOf('half'));
    await mirrored(mirror, aTrace('a'));
    const client = new MongoClient(uriOf('half'));
    await client.db().collection('traces').deleteMany({});
    await client.close();
    expect(await mirror.mirror(aTrace('a'))).toEqual({ stored: true });
    expect((await mirror.ratings('default', []))[0]).toMatchObject({ elo: 1210, matches: 1 });
  });

  test('sums ratings of a tenant, without the traces that the asker adds itself', async () => {
    const mirror = aMirror(uriOf('sums'));
    await mirrored(
      mirror,
      aTrace('a', { elo_changes: [change('critic', 10)] }),
      aTrace('b', { elo_changes: [change('critic', -5)], verified: false }),
      aTrace('c', { elo_changes: [change('critic', 25)], tenant: 'acme' }),
    );
    expect(await mirror.ratings('default', [])).toEqual([
      { persona_id: 'critic', elo: 1205, matches: 2, successes: 1 },
    ]);
    expect(await mirror.ratings('default', [traceId('a')])).toEqual([
      { persona_id: 'critic', elo: 1195, matches: 1, successes: 0 },
    ]);
  });

  test('finds the most alike by comparing here, as this server has no vector search', async () => {
    const mirror = aMirror(uriOf('alike'));
    await mirrored(
      mirror,
      shop('schema', 'Migrate the postgres database schema', { created_at: minute(1) }),
      shop('bread', 'Bake bread with rye', { created_at: minute(2) }),
      shop('login', 'Rename the login button', { created_at: minute(3) }),
    );
    const query = { tenant: 'default', task: 'database migrations for postgres', topK: 2 };
    const similar = await mirror.similar(query);
    expect(names(similar)[0]).toBe('schema');
    expect(similar).toHaveLength(2);
    expect(similar[0]!.similarity).toBeGreaterThan(0.2);
    expect(names(await mirror.search({ tenant: 'default', text: 'rye', limit: 5 }))).toEqual(['bread']);
    expect(names(await mirror.search({ tenant: 'default', text: '', limit: 2 }))).toEqual(['login', 'bread']);
    expect(await mirror.search({ tenant: 'acme', text: 'rye', limit: 5 })).toEqual([]);
  });

  test('says that the server went away, and goes on when it is back', async () => {
    const mirror = aMirror(uriOf('away'));
    await mirrored(mirror, aTrace('a'));
    await server.stop();
    const error = await failureOf(mirror.mirror(aTrace('b')));
    expect({ code: error.code, retryable: error.retryable }).toEqual({ code: 'unavailable', retryable: true });
    expect(error.message).toContain('MongoDB cannot be reached');
    await server.start();
    expect(await mirror.mirror(aTrace('b'))).toEqual({ stored: true });
    expect((await mirror.ratings('default', []))[0]).toMatchObject({ persona_id: 'critic', matches: 2 });
  });

  test('says that the server says nothing any more', async () => {
    const proxy = await startCuttableProxy(server.uri.replace('mongodb:', 'http:'));
    const uri = `${proxy.url.replace('http:', 'mongodb:')}/silent?socketTimeoutMS=500&retryWrites=false`;
    try {
      const mirror = aMirror(uri);
      await mirrored(mirror, aTrace('a'));
      proxy.stall();
      const error = await failureOf(mirror.mirror(aTrace('b')));
      expect({ code: error.code, retryable: error.retryable }).toEqual({ code: 'unavailable', retryable: true });
    } finally {
      await proxy.close();
    }
  });
});

test('a server that falls silent is given up after ten seconds, unless the URI says otherwise', () => {
  expect(timeoutsBeside('mongodb://host/shop')).toEqual({ serverSelectionTimeoutMS: 500, socketTimeoutMS: 10_000 });
  expect(timeoutsBeside('mongodb://host/shop?sockettimeoutms=5')).toEqual({ serverSelectionTimeoutMS: 500 });
});

describe('a MongoDB that nobody answers for', () => {
  const uri = 'mongodb://parley:very-secret@127.0.0.1:9/shop';

  test('is told without the credentials of its URI', async () => {
    const error = await failureOf(aMirror(uri).mirror(aTrace('a')));
    expect(error.message).toContain('MongoDB cannot be reached');
    expect(JSON.stringify([error, error.message, error.stack])).not.toContain('very-secret');
  });

  test('is told without them even when the driver quotes the URI', () => {
    const said = explained(new MongoError('cannot parse mongodb+srv://parley:very-secret@host/shop here'));
    expect(said).toMatchObject({ message: expect.stringContaining('mongodb+srv://***@host/shop here') });
  });

  test.each([
    ['no address', 'mongodb://parley:very-secret@:70000:1/', 'Invalid connection string'],
    ['an option that is none', 'mongodb://parley:very-secret@host/?colour=blue', 'option colour is not supported'],
    ['another protocol', 'postgres://parley:very-secret@host/', 'Invalid scheme'],
  ])('is refused at once for %s, without its credentials', (_, wrong, why) => {
    expect(() => aMirror(wrong)).toThrow(`MONGODB_URI cannot be used: ${why}`);
    expect(() => aMirror(wrong)).not.toThrow('very-secret');
    expect(() => aMirror(wrong)).toThrow('It must be like mongodb://user:password@host:27017/database');
  });
});

describe('a MongoDB with vector search', () => {
  test('is asked for the nearest of the tenant and the embedder', () => {
    const stages = vectorSearchStages(Float32Array.from([0.5, -0.5]), { tenant: 'acme', embedder: 'e' }, 5);
    expect(stages).toEqual([
      {
        $vectorSearch: {
          index: 'parley_vectors_2',
          path: 'embedding.vector',
          queryVector: [0.5, -0.5],
          numCandidates: 100,
          limit: 5,
          filter: { tenant: 'acme', 'embedding.embedder': 'e' },
        },
      },
      { $set: { score: { $meta: 'vectorSearchScore' } } },
    ]);
  });

  test.each([
    [1, 1],
    [0.5, 0],
    [0, -1],
  ])('gives a score of %d for a cosine of %d', (score, cosine) => {
    expect(cosineOfScore(score)).toBe(cosine);
  });

  /** What a server answers about its index, one look after the other. */
  const indexOf = (...looks: ({ queryable: boolean } | null)[]) => {
    const created: unknown[] = [];
    let time = 0;
    const collection = {
      listSearchIndexes: () => ({ toArray: async () => [looks.shift()].filter((index) => index) }),
      createSearchIndex: async (definition: unknown) => void created.push(definition),
    } as unknown as ConstructorParameters<typeof VectorIndex>[0];
    const index = new VectorIndex(collection, () => time);
    return { index, created, later: () => (time += 60_001) };
  };

  test('has its index made once, and is used once that is built', async () => {
    const { index, created, later } = indexOf(null, { queryable: false }, { queryable: true });
    const ready = [await index.isReady(256), await index.isReady(256)];
    later();
    ready.push(await index.isReady(256));
    later();
    ready.push(await index.isReady(256), await index.isReady(256));
    expect(ready).toEqual([false, false, false, true, true]);
    expect(created).toMatchObject([
      { name: 'parley_vectors_256', definition: { fields: [{ numDimensions: 256, similarity: 'cosine' }, {}, {}] } },
    ]);
  });
});
