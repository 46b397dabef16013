import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Embedder } from '../../../activities/memory/embedder.js';
import { createModelEmbedder } from '../../../activities/memory/model-embedder.js';
import { openMemory } from '../../../activities/memory/index.js';
import { startModelServer, type ModelServer } from '../../support/model-server.js';
import { aFolder, aTrace, shop } from './traces.js';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterEach(() => server.reset());
afterAll(() => server.close());

const made: Embedder[] = [];
afterAll(async () => {
  for (const embedder of made) await embedder.close?.();
});
const anEmbedder = (name: string, given: Record<string, string>): Embedder => {
  const embedder = createModelEmbedder(name, given);
  made.push(embedder);
  return embedder;
};

const environment = () => ({ OPENAI_API_KEY: 'the-key', OPENAI_BASE_URL: server.baseUrl });

describe('an embedding model', () => {
  test('is asked by its name; its vectors are made as long as 1', async () => {
    server.mock.onEmbedding(/./, { embedding: [3, 4] });
    const embedder = anEmbedder('openai/text-embedding-3-small', environment());
    const vectors = await embedder.embed(['one', 'two']);
    expect(embedder.name).toBe('openai/text-embedding-3-small');
    expect(vectors.map((vector) => Array.from(vector, (value) => value.toFixed(2)))).toEqual([
      ['0.60', '0.80'],
      ['0.60', '0.80'],
    ]);
    expect(server.bodies()[0]).toMatchObject({ model: 'text-embedding-3-small' });
  });

  test.each([
    ['openai/m', { OPENAI_API_KEY: 'open-key' }, 'OPENAI_BASE_URL', 'Bearer open-key'],
    ['my-host/m', { MY_HOST_API_KEY: 'my-key', OPENAI_API_KEY: 'open-key' }, 'MY_HOST_BASE_URL', 'Bearer my-key'],
  ])('%s is asked with the key of the worker’s environment', async (name, keys, address, authorization) => {
    const seen: (string | undefined)[] = [];
    const provider = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.setHeader('content-type', 'application/json');
      response.end('{"data":[{"embedding":[1,0],"index":0}],"usage":{"prompt_tokens":1}}');
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const { port } = provider.address() as AddressInfo;
    const asked = { ...keys, [address]: `http://127.0.0.1:${port}/v1` };
    expect(await anEmbedder(name, asked).embed(['one'])).toHaveLength(1);
    expect(seen).toEqual([authorization]);
    provider.closeAllConnections();
    provider.close();
  });

  test.each([
    ['text-embedding-3-small', {}, 'PARLEY_EMBEDDING_MODEL must be PROVIDER/MODEL'],
    ['anthropic/claude', {}, 'of a provider that has embeddings; got "anthropic/claude"'],
    ['openai/text-embedding-3-small', {}, 'set OPENAI_API_KEY'],
    ['my-host/small', {}, 'set MY_HOST_BASE_URL or OPENAI_BASE_URL'],
  ])('named %p is refused without what it needs', (name, given: Record<string, string>, message) => {
    expect(() => anEmbedder(name, given)).toThrow(message);
  });

  test('that fails rejects in words, without the key', async () => {
    server.mock.onEmbedding(/./, { error: { message: 'overloaded', type: 'server_error' }, status: 400 });
    const embedder = anEmbedder('openai/m', environment());
    const error = (await embedder.embed(['one']).catch((reason: unknown) => reason)) as Error;
    expect(error.message).toMatch(/^the embedding model openai\/m did not answer: .*overloaded/);
    expect(error.message).not.toContain('the-key');
  });
});

describe('memory with an embedding model', () => {
  const open = (heard: string[]) =>
    openMemory({
      dataFolder: aFolder(),
      mongodbUri: null,
      embeddingModel: 'openai/m',
      environment: environment(),
      onError: (_, what) => heard.push(what),
    });

  test('finds by the model’s vectors', async () => {
    server.mock.onEmbedding('Sprechen', { embedding: [1, 0, 0] });
    server.mock.onEmbedding('Talk', { embedding: [0.8, 0.6, 0] });
    server.mock.onEmbedding('Bread', { embedding: [0, 0, 1] });
    const { memory, close } = open([]);
    await memory.store(shop('talk', 'Talk'));
    await memory.store(shop('bread', 'Bread'));
    const found = await memory.search({ tenant: 'default', text: 'Sprechen', limit: 5 });
    expect(found.map(({ task, similarity }) => [task, similarity?.toFixed(2)])).toEqual([['Talk', '0.80']]);
    await close();
  });

  test('keeps a trace while the model is down, and gives it a vector later', async () => {
    const heard: string[] = [];
    const { memory, close } = open(heard);
    server.mock.onEmbedding(/./, { error: { message: 'overloaded' }, status: 400 });
    expect(await memory.store(aTrace('a', { task: 'Talk', summary: '', tags: [] }))).toEqual({ stored: true });
    expect(heard).toEqual(['no vectors for memory: until there are, it is searched by words alone']);
    server.reset();
    server.mock.onEmbedding(/./, { embedding: [1, 0] });
    const { similar } = await memory.context({ tenant: 'default', task: 'what', personas: [], topK: 5 });
    expect(similar.map(({ similarity }) => similarity)).toEqual([1]);
    await close();
  });
});
