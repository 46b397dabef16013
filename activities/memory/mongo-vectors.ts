import { type Collection, type Document, MongoServerError } from 'mongodb';

/** Servers without Atlas Search refuse in different ways: no such command, no such stage, not supported, not enabled. */
const withoutSearch = new Set<unknown>([59, 115, 31082, 40234, 40324, 6047401]);

/** Between two looks at an index that is being built, or at a server that refused to make it. */
const lookAgainMs = 60_000;

const nameOf = (dimensions: number): string => `parley_vectors_${dimensions}`;

/** What Atlas is asked for: the traces whose vectors are nearest, among those of the same tenant and embedder. */
export const vectorSearchStages = (
  vector: Float32Array,
  { tenant, embedder }: { tenant: string; embedder: string },
  limit: number,
): Document[] => [
  {
    $vectorSearch: {
      index: nameOf(vector.length),
      path: 'embedding.vector',
      queryVector: Array.from(vector),
      numCandidates: Math.min(10_000, limit * 20),
      limit,
      filter: { tenant, 'embedding.embedder': embedder },
    },
  },
  { $set: { score: { $meta: 'vectorSearchScore' } } },
];

/** Atlas scores a cosine as (1 + cosine) / 2. */
export const cosineOfScore = (score: number): number => 2 * score - 1;

const definitionOf = (dimensions: number): Document => ({
  fields: [
    { type: 'vector', path: 'embedding.vector', numDimensions: dimensions, similarity: 'cosine' },
    { type: 'filter', path: 'tenant' },
    { type: 'filter', path: 'embedding.embedder' },
  ],
});

/**
 * Whether the server can search vectors itself, as Atlas can. Its index is made when it is missing; until it is built, and
 * on all other servers, the answer is false and the caller compares by itself.
 */
export class VectorIndex {
  readonly #collection: Pick<Collection, 'listSearchIndexes' | 'createSearchIndex'>;
  readonly #now: () => number;
  #state: 'unknown' | 'ready' | 'absent' = 'unknown';
  #lookAgainAt = -Infinity;

  constructor(
    collection: Pick<Collection, 'listSearchIndexes' | 'createSearchIndex'>,
    now: () => number = () => performance.now(),
  ) {
    this.#collection = collection;
    this.#now = now;
  }

  async isReady(dimensions: number): Promise<boolean> {
    if (this.#state !== 'unknown') return this.#state === 'ready';
    if (this.#now() < this.#lookAgainAt) return false;
    this.#lookAgainAt = this.#now() + lookAgainMs;
    const name = nameOf(dimensions);
    try {
      const [index] = (await this.#collection.listSearchIndexes(name).toArray()) as { queryable?: boolean }[];
      if (index?.queryable === true) this.#state = 'ready';
      else if (index === undefined)
        await this.#collection.createSearchIndex({
          name,
          type: 'vectorSearch',
          definition: definitionOf(dimensions),
        });
    } catch (error) {
      // What the server refuses for another reason (no such collection yet, no right to) may change.
      if (!(error instanceof MongoServerError)) throw error;
      if (withoutSearch.has(error.code)) this.#state = 'absent';
    }
    return this.#state === 'ready';
  }
}
