import { type Collection, type Db, MongoClient } from 'mongodb';
import {
  type ContextQuery,
  type MemorySearch,
  type MirrorPort,
  type Rating,
  type SimilarTrace,
  type Stored,
  type TraceRecord,
  traceSchema,
} from '../../src/contracts/memory.js';
import { firstElo } from '../../src/domain/elo.js';
import { ParleyError } from '../../src/domain/errors.js';
import { dot, type Embedder, type OnError, tryEmbed } from './embedder.js';
import { explained, isDuplicate, wrongUri } from './mongo-errors.js';
import { cosineOfScore, VectorIndex, vectorSearchStages } from './mongo-vectors.js';
import { fuse, wordsOf } from './rank.js';
import { byElo, checked, inShort, searchText, successOf } from './remembered.js';

/** Milliseconds after which a server that cannot be found, or that says nothing more, is dead. */
const timeouts = { serverSelectionTimeoutMS: 500, socketTimeoutMS: 10_000 };
/** Those that the URI does not name itself. */
export const timeoutsBeside = (uri: string): Partial<typeof timeouts> =>
  Object.fromEntries(Object.entries(timeouts).filter(([name]) => !new RegExp(`[?&]${name}=`, 'i').test(uri)));
/** The newest traces of a tenant, which are compared here where the server cannot do it. */
const comparedHere = 1_000;

interface TraceDocument extends TraceRecord {
  _id: string;
  embedding: { embedder: string; dimensions: number; vector: number[] } | null;
}

interface ChangeDocument {
  _id: string;
  trace_id: string;
  tenant: string;
  persona_id: string;
  delta: number;
  success: 0 | 1;
}

interface Found {
  trace: TraceRecord;
  similarity: number | null;
}

export interface MongoMirrorOptions {
  embedder: Embedder;
  onError: OnError;
}

/** The name in the URI's path; a URI without one means the database `parley`. */
const databaseName = (uri: string): string => /^[^:]+:\/\/[^/]+\/([^?]+)/.exec(uri)?.[1] ?? 'parley';

/**
 * Memory in MongoDB, for workers on several machines. Documents are only ever added, under ids that follow from the trace,
 * so that a repeat changes nothing whatever the server's guarantees; ratings are sums over them.
 */
export class MongoMirror implements MirrorPort {
  readonly #client: MongoClient;
  readonly #database: Db;
  readonly #traces: Collection<TraceDocument>;
  readonly #changes: Collection<ChangeDocument>;
  readonly #vectorIndex: VectorIndex;
  readonly #options: MongoMirrorOptions;
  #indexed: Promise<unknown> | null = null;
  #isClosed = false;

  /** Connects at first use. @throws ParleyError when the URI is none */
  constructor(uri: string, options: MongoMirrorOptions) {
    try {
      this.#client = new MongoClient(uri, { appName: 'parley', ...timeoutsBeside(uri) });
    } catch (error) {
      throw wrongUri(error);
    }
    this.#options = options;
    this.#database = this.#client.db(databaseName(uri));
    this.#traces = this.#database.collection<TraceDocument>('traces');
    this.#changes = this.#database.collection<ChangeDocument>('elo_changes');
    this.#vectorIndex = new VectorIndex(this.#database.collection('traces'));
  }

  async mirror(given: TraceRecord, signal?: AbortSignal): Promise<Stored> {
    const trace = checked(given);
    const [vector] = (await this.#vectors([searchText(trace)], signal)) ?? [];
    const embedder = this.#options.embedder.name;
    const embedding = vector === undefined ? null : { embedder, dimensions: vector.length, vector: Array.from(vector) };
    return await this.#guarded(async () => {
      await this.#ensureIndexes();
      // First what follows from the trace: once the trace is there, all of it is.
      await this.#addChanges(trace);
      try {
        await this.#traces.insertOne({ _id: trace.trace_id, ...trace, embedding });
        return { stored: true };
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        return { stored: false };
      }
    });
  }

  async similar({ tenant, task, topK }: Omit<ContextQuery, 'personas'>, signal?: AbortSignal): Promise<SimilarTrace[]> {
    const [vector] = (await this.#vectors([task], signal)) ?? [];
    if (vector === undefined || topK === 0) return [];
    return await this.#guarded(async () => shortened(await this.#nearest(tenant, vector, topK)));
  }

  async search({ tenant, text, limit, kind }: MemorySearch, signal?: AbortSignal): Promise<SimilarTrace[]> {
    const isKind = ({ trace }: Found): boolean => kind === undefined || trace.kind === kind;
    if (text.trim() === '') {
      const newest = await this.#guarded(() => this.#newest(tenant, limit, kind));
      return shortened(newest.map(({ trace }) => ({ trace, similarity: null })));
    }
    const [vector] = (await this.#vectors([text], signal)) ?? [];
    return await this.#guarded(async () => {
      const newest = await this.#newest(tenant, comparedHere, kind);
      const near = vector === undefined ? [] : await this.#nearest(tenant, vector, limit);
      const related = near.filter(({ similarity }) => (similarity ?? -1) >= this.#options.embedder.unrelatedBelow);
      const byWords = matching(text, newest).map((trace) => ({ trace, similarity: null }));
      const found = new Map([...byWords, ...related.filter(isKind)].map((one) => [one.trace.trace_id, one]));
      const ids = [byWords, related.filter(isKind)].map((list) => list.map(({ trace }) => trace.trace_id));
      return shortened(
        fuse(ids)
          .slice(0, limit)
          .map((id) => found.get(id)!),
      );
    });
  }

  async trace(tenant: string, traceId: string): Promise<TraceRecord | null> {
    return await this.#guarded(async () => {
      const found = await this.#traces.findOne({ _id: traceId, tenant });
      if (found === null) return null;
      const { _id, embedding: _, ...trace } = found;
      const parsed = traceSchema.safeParse(trace);
      if (parsed.success) return parsed.data;
      throw new ParleyError('unavailable', `MongoDB holds a trace ${_id} that cannot be read: ${parsed.error.message}`);
    });
  }

  async ratings(tenant: string, except: readonly string[]): Promise<Rating[]> {
    // One sum a question: not every server that speaks the protocol gives more than one.
    const sums = async (what: string | 1): Promise<Map<string, number>> => {
      const rows = await this.#changes
        .aggregate<{
          _id: string;
          sum: number;
        }>([
          { $match: { tenant, ...(except.length > 0 && { trace_id: { $nin: [...except] } }) } },
          { $group: { _id: '$persona_id', sum: { $sum: what } } },
        ])
        .toArray();
      return new Map(rows.map(({ _id, sum }) => [_id, sum]));
    };
    return await this.#guarded(async () => {
      const [deltas, matches, successes] = await Promise.all([sums('$delta'), sums(1), sums('$success')]);
      return [...matches]
        .map(([persona_id, count]) => ({
          persona_id,
          elo: firstElo + (deltas.get(persona_id) ?? 0),
          matches: count,
          successes: successes.get(persona_id) ?? 0,
        }))
        .sort(byElo);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed)
      throw new ParleyError('unavailable', 'Memory: this process is stopping and has left MongoDB.', {
        retryable: true,
      });
    try {
      // Left to itself, a client whose first connection failed never tries another.
      await this.#client.connect();
      return await work();
    } catch (error) {
      throw explained(error);
    }
  }

  #ensureIndexes(): Promise<unknown> {
    this.#indexed ??= Promise.all([
      this.#traces.createIndex({ tenant: 1, created_at: -1 }),
      this.#changes.createIndex({ tenant: 1, persona_id: 1 }),
    ]).catch((error: unknown) => {
      this.#indexed = null;
      throw error;
    });
    return this.#indexed;
  }

  async #addChanges(trace: TraceRecord): Promise<void> {
    const { trace_id, tenant, elo_changes } = trace;
    if (elo_changes.length === 0) return;
    const documents = elo_changes.map((change) => {
      const { persona_id, delta } = change;
      return {
        _id: `${trace_id}:${persona_id}`,
        trace_id,
        tenant,
        persona_id,
        delta,
        success: successOf(trace, change),
      };
    });
    try {
      await this.#changes.insertMany(documents, { ordered: false });
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }

  #vectors(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[] | null> {
    return tryEmbed(this.#options.embedder, texts, this.#options.onError, signal);
  }

  /** Highest cosine first; by the server's own index where it has one. */
  async #nearest(tenant: string, vector: Float32Array, limit: number): Promise<Found[]> {
    const embedder = this.#options.embedder.name;
    if (await this.#vectorIndex.isReady(vector.length)) {
      const found = await this.#traces
        .aggregate<TraceDocument & { score: number }>(vectorSearchStages(vector, { tenant, embedder }, limit))
        .toArray();
      return found.map(({ score, ...trace }) => ({ trace, similarity: cosineOfScore(score) }));
    }
    return (await this.#newest(tenant, comparedHere))
      .flatMap(({ trace, embedding }) =>
        embedding?.embedder === embedder && embedding.dimensions === vector.length
          ? [{ trace, similarity: dot(Float32Array.from(embedding.vector), vector) }]
          : [],
      )
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, limit);
  }

  async #newest(tenant: string, limit: number, kind?: string) {
    const documents = await this.#traces
      .find({ tenant, ...(kind !== undefined && { kind: kind as TraceRecord['kind'] }) })
      .project<TraceDocument>({ plan: 0, votes: 0, report: 0 })
      .sort({ created_at: -1 })
      .limit(limit)
      .toArray();
    return documents.map(({ embedding, ...trace }) => ({ trace: trace as TraceRecord, embedding }));
  }
}

const shortened = (found: readonly Found[]): SimilarTrace[] =>
  found.map(({ trace, similarity }) => inShort(trace, similarity));

/** Traces that hold a word of the text, those with the most of them first. */
const matching = (text: string, among: readonly { trace: TraceRecord }[]): TraceRecord[] => {
  const wanted = new Set(wordsOf(text));
  return among
    .map(({ trace }) => ({ trace, hits: new Set(wordsOf(searchText(trace)).filter((word) => wanted.has(word))).size }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .map(({ trace }) => trace);
};
