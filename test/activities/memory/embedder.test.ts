import { dot } from '../../../activities/memory/embedder.js';
import { hashingEmbedder } from '../../../activities/memory/hashing-embedder.js';

const cosine = async (one: string, other: string): Promise<number> => {
  const [a, b] = await hashingEmbedder.embed([one, other]);
  return dot(a!, b!);
};

describe('the hashing embedder', () => {
  test.each([
    ['Add an index to orders', 'Add an index to orders', 1, 1],
    ['Add an index to orders', '  add an INDEX to orders. ', 0.999, 1],
    ['migrate the postgres database schema', 'database migrations for postgres', 0.3, 0.9],
    ['rename the login button', 'rename the log-in button', 0.4, 0.9],
    ['Die Bestellungen löschen', 'Bestellung löschen', 0.3, 0.9],
    ['migrate the postgres database schema', 'bake bread with rye and honey', -0.15, 0.15],
    ['注文テーブルに索引を追加', '注文テーブルの索引を削除', 0.3, 0.95],
  ])('finds %p and %p alike by %d to %d', async (one, other, least, most) => {
    const alike = await cosine(one, other);
    expect(alike).toBeGreaterThanOrEqual(least - 1e-6);
    expect(alike).toBeLessThanOrEqual(most + 1e-6);
  });

  test('gives vectors of 256 dimensions and length 1', async () => {
    const [vector] = await hashingEmbedder.embed(['Add an index']);
    expect(vector).toHaveLength(256);
    expect(dot(vector!, vector!)).toBeCloseTo(1, 5);
  });

  test('gives text without a word the vector of zeros, which is like nothing', async () => {
    expect(await cosine('…!?', 'Add an index')).toBe(0);
  });

  test('keeps to its algorithm as long as it keeps its name: stored vectors are compared with new ones', async () => {
    const [vector] = await hashingEmbedder.embed(['Add an index to orders']);
    const fingerprint = vector!.reduce((sum, value, index) => sum + value * (index + 1), 0);
    expect([hashingEmbedder.name, fingerprint.toFixed(3)]).toEqual(['hashed-ngrams-1/256', '-199.000']);
  });
});
