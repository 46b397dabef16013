import request from 'supertest';
import { memoryIn, readerOf } from '../activities/memory/stored.js';
import { aFolder, aTrace, change, minute, shop, traceId } from '../activities/memory/traces.js';
import { createRig } from './rig.js';

const folder = aFolder();
const reader = readerOf(folder);
const memory = memoryIn(folder);
const { app } = createRig({ memory: reader });

beforeAll(async () => {
  await memory.store(shop('index', 'Add an index to the orders table', { created_at: minute(1) }));
  await memory.store(shop('login', 'Rename the login button', { created_at: minute(2), elo_changes: [] }));
  await memory.store(aTrace('theirs', { tenant: 'acme', elo_changes: [change('critic', 25)] }));
});
afterAll(async () => {
  await reader.close();
  await memory.close();
});

interface Items {
  items: { work_id: string; similarity: number | null }[];
}
const found = (body: unknown): string[] => (body as Items).items.map(({ work_id }) => work_id);

describe('GET /v1/memory', () => {
  test.each([
    ['?query=orders', ['debate-index']],
    ['?query=rename%20the%20log-in%20button&limit=1', ['debate-login']],
    ['', ['debate-login', 'debate-index']],
    ['?limit=1', ['debate-login']],
    ['?query=zeppelin', []],
    ['?query=orders&tenant=acme', ['debate-theirs']],
    ['?kind=debate', ['debate-login', 'debate-index']],
  ])('%s finds %j', async (query, expected) => {
    const { body } = await request(app).get(`/v1/memory${query}`).expect(200);
    expect(found(body)).toEqual(expected);
  });

  test('refuses every fault of a query at once', async () => {
    const { body } = await request(app).get('/v1/memory?limit=0&kind=dance&colour=blue').expect(422);
    expect((body as { errors: { path: string }[] }).errors.map(({ path }) => path).sort()).toEqual([
      'query.colour',
      'query.kind',
      'query.limit',
    ]);
  });
});

describe('GET /v1/memory/{trace_id}', () => {
  test('shows the trace as it was stored', async () => {
    const { body } = await request(app)
      .get(`/v1/memory/${traceId('theirs')}?tenant=acme`)
      .expect(200);
    expect(body).toEqual(aTrace('theirs', { tenant: 'acme', elo_changes: [change('critic', 25)] }));
  });

  test.each([
    ['of another tenant', traceId('theirs'), 404, 'not_found'],
    ['that is none', 'ABC', 422, 'invalid_request'],
  ])('answers for an id %s', async (_, id, status, code) => {
    const { body } = await request(app).get(`/v1/memory/${id}`).expect(status);
    expect(body).toMatchObject({ code });
  });
});

describe('GET /v1/ratings', () => {
  test('lists a tenant’s personas from the highest', async () => {
    const { body } = await request(app).get('/v1/ratings').expect(200);
    expect(body).toEqual({
      items: [
        { persona_id: 'critic', elo: 1210, matches: 1, successes: 1 },
        { persona_id: 'solution', elo: 1190, matches: 1, successes: 1 },
      ],
    });
  });
});

describe('memory asked with a key that belongs to a tenant', () => {
  const key = 'a-key-of-acme-alone';
  const keys = JSON.stringify([{ name: 'a', key, tenant: 'acme', role: 'viewer' }]);
  const rig = createRig({ memory: reader, env: { PARLEY_API_KEYS: keys } });
  const get = (path: string) => request(rig.app).get(path).set('authorization', `Bearer ${key}`);

  test('is that tenant’s', async () => {
    expect(found((await get('/v1/memory').expect(200)).body)).toEqual(['debate-theirs']);
    expect((await get('/v1/ratings').expect(200)).body).toMatchObject({ items: [{ elo: 1225 }] });
    await get(`/v1/memory/${traceId('theirs')}`).expect(200);
    await get(`/v1/memory/${traceId('index')}`).expect(404);
  });

  test('refuses another tenant by name', async () => {
    const { body } = await get('/v1/memory?tenant=default').expect(403);
    expect(body).toMatchObject({ code: 'forbidden' });
  });
});

describe('a gateway without its workers’ memory', () => {
  test('says where it is kept and what to set', async () => {
    const away = readerOf(aFolder());
    const { body } = await request(createRig({ memory: away }).app)
      .get('/v1/ratings')
      .expect(503);
    expect((body as { detail: string }).detail).toMatch(/Memory is kept by the workers.* Set MONGODB_URI/);
  });

  test('finds it once a worker has made it', async () => {
    const dataFolder = aFolder();
    const later = readerOf(dataFolder);
    const { app: own } = createRig({ memory: later });
    await request(own).get('/v1/ratings').expect(503);
    const made = memoryIn(dataFolder);
    await made.store(aTrace('a'));
    const { body } = await request(own).get('/v1/memory').expect(200);
    expect(found(body)).toEqual(['debate-a']);
    await made.close();
    await later.close();
  });

  test('searches by words where it lacks the key of the embedding model', async () => {
    const heard: string[] = [];
    const keyless = readerOf(folder, {
      embeddingModel: 'openai/text-embedding-3-small',
      onError: (_, what) => heard.push(what),
    });
    const { app: own } = createRig({ memory: keyless });
    for (let again = 0; again < 2; again += 1) {
      expect(found((await request(own).get('/v1/memory?query=orders').expect(200)).body)).toEqual(['debate-index']);
    }
    expect(heard).toEqual(['memory is searched by words alone here']);
    await keyless.close();
  });
});
