import type {
  ContextQuery,
  MemoryContext,
  MemoryPort,
  MemorySearch,
  Rating,
  RatingChange,
  SimilarTrace,
  Stored,
  TraceRecord,
} from '../../src/contracts/memory.js';
import { traceSchema } from '../../src/contracts/memory.js';
import { ParleyError } from '../../src/domain/errors.js';
import { type Database, guarded, inTransaction, openDatabase, type OpenOptions } from './database.js';
import { type Embedder, type OnError, tryEmbed } from './embedder.js';
import { fuse, wordsQuery } from './rank.js';
import { byElo, checked, inShort, ratingTable, searchText, successOf } from './remembered.js';
import { prepareStatements, type Statements } from './statements.js';

export interface SqliteMemoryOptions extends OpenOptions {
  embedder: Embedder;
  onError: OnError;
}

/** Traces without a vector of the current embedder that one look-up gives one to. */
const vectorsALookup = 32;
/** Hits by words and by vector that are merged for each one that is asked for. */
const candidates = 4;

interface Near {
  trace: number;
  similarity: number;
}

/** Memory in one SQLite file (spec 02 "Memory"): traces, their words, their vectors and what they did to ratings. */
export class SqliteMemory implements MemoryPort {
  readonly #file: string;
  readonly #database: Database;
  readonly #sql: Statements;
  readonly #options: SqliteMemoryOptions;

  /** @param file made if need be; `:memory:` keeps nothing. @throws ParleyError unavailable */
  constructor(file: string, options: SqliteMemoryOptions) {
    this.#file = file;
    this.#options = options;
    this.#database = openDatabase(file, options);
    this.#sql = guarded(file, () => prepareStatements(this.#database));
  }

  async store(given: TraceRecord, signal?: AbortSignal): Promise<Stored> {
    const trace = checked(given);
    if (this.#isStored(trace)) return { stored: false };
    // Made before the transaction, which waits for nobody.
    const vector = await this.#vectors([searchText(trace)], signal);
    return this.#guarded(() => inTransaction(this.#database, () => this.#insert(trace, vector?.[0])));
  }

  async context({ tenant, task, personas, topK }: ContextQuery, signal?: AbortSignal): Promise<MemoryContext> {
    await this.#addMissingVectors(tenant, signal);
    const near = await this.#near({ tenant, text: task, limit: topK }, signal);
    // Without a vector of the task there are still its words.
    const similar =
      near ?? this.#byWords({ tenant, text: task, limit: topK }).map((trace) => ({ trace, similarity: null }));
    return this.#guarded(() => ({
      ratings: ratingTable(personas, this.#sql.ratings.all({ tenant })),
      similar: similar.map(({ trace, similarity }) => inShort(this.#read(trace), similarity)),
      recent: this.#recent({ tenant, limit: topK }),
    }));
  }

  async search(query: MemorySearch, signal?: AbortSignal): Promise<SimilarTrace[]> {
    const { limit, text } = query;
    if (text.trim() === '') return this.#guarded(() => this.#recent(query));
    const wide = { ...query, limit: limit * candidates };
    const { unrelatedBelow } = this.#options.embedder;
    const near = ((await this.#near(wide, signal)) ?? []).filter(({ similarity }) => similarity >= unrelatedBelow);
    const similarities = new Map(near.map(({ trace, similarity }) => [trace, similarity]));
    const found = fuse([this.#byWords(wide), near.map(({ trace }) => trace)]).slice(0, limit);
    return this.#guarded(() => found.map((trace) => inShort(this.#read(trace), similarities.get(trace) ?? null)));
  }

  async trace(tenant: string, traceId: string): Promise<TraceRecord | null> {
    return this.#guarded(() => {
      const row = this.#sql.byId.get({ traceId });
      return row === undefined || row.tenant !== tenant ? null : this.#parse(row.document);
    });
  }

  async ratings(tenant: string): Promise<Rating[]> {
    return this.#guarded(() => this.#sql.ratings.all({ tenant }).sort(byElo));
  }

  async unmirrored(limit: number): Promise<TraceRecord[]> {
    return this.#guarded(() => this.#sql.unmirrored.all({ limit }).map(({ document }) => this.#parse(document)));
  }

  async unmirroredChanges(tenant: string): Promise<{ traceIds: string[]; changes: RatingChange[] }> {
    return this.#guarded(() => ({
      traceIds: this.#sql.unmirroredIds.all({ tenant }).map(({ trace_id }) => trace_id),
      changes: this.#sql.unmirroredChanges.all({ tenant }),
    }));
  }

  async markMirrored(traceId: string): Promise<void> {
    this.#guarded(() => this.#sql.markMirrored.run({ traceId }));
  }

  async close(): Promise<void> {
    if (!this.#database.isOpen) return;
    // What waits in the file beside it goes into the file itself, so that a copy of it is whole.
    this.#guarded(() => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    this.#database.close();
  }

  #guarded<T>(work: () => T): T {
    if (!this.#database.isOpen)
      throw new ParleyError('unavailable', 'Memory: this process is stopping and has closed it.', { retryable: true });
    return guarded(this.#file, work);
  }

  /** @throws ParleyError conflict when the id is another work's */
  #isStored({ trace_id, work_id }: TraceRecord): boolean {
    const row = this.#guarded(() => this.#sql.byId.get({ traceId: trace_id }));
    if (row === undefined) return false;
    if (row.work_id === work_id) return true;
    throw new ParleyError(
      'conflict',
      `Memory: the trace ${trace_id} is that of ${row.work_id}; ${work_id} needs a trace id of its own.`,
    );
  }

  #insert(trace: TraceRecord, vector: Float32Array | undefined): Stored {
    // Another worker may have been first while the vector was made.
    if (this.#isStored(trace)) return { stored: false };
    const { trace_id: traceId, work_id: workId, tenant, kind, created_at: createdAt } = trace;
    const { lastInsertRowid } = this.#sql.addTrace.run({
      ...{ traceId, workId, tenant, kind, createdAt },
      document: JSON.stringify(trace),
    });
    const number = Number(lastInsertRowid);
    for (const change of trace.elo_changes) {
      const { persona_id: personaId, delta } = change;
      this.#sql.addChange.run({ tenant, personaId, trace: number, delta, success: successOf(trace, change) });
    }
    const tags = trace.tags.map(({ tag }) => tag).join(' ');
    this.#sql.addWords.run({ trace: number, task: trace.task, summary: trace.summary, tags });
    if (vector !== undefined) this.#addVector(number, trace, vector);
    return { stored: true };
  }

  #addVector(trace: number, { tenant, kind }: TraceRecord, vector: Float32Array): void {
    const embedder = this.#options.embedder.name;
    this.#sql.addVector.run({ ...{ trace, tenant, kind, embedder, vector }, dimensions: vector.length });
  }

  #vectors(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[] | null> {
    return tryEmbed(this.#options.embedder, texts, this.#options.onError, signal);
  }

  /** Traces stored while the embedder failed, or under another one, newest first and a few at a time. */
  async #addMissingVectors(tenant: string, signal?: AbortSignal): Promise<void> {
    const whose = { tenant, embedder: this.#options.embedder.name };
    if (this.#guarded(() => this.#sql.countWithoutVector.get(whose)?.count) === 0) return;
    const missing = this.#guarded(() => this.#sql.withoutVector.all({ ...whose, limit: vectorsALookup })).map(
      ({ number, document }) => ({ number, trace: this.#parse(document) }),
    );
    const vectors = await this.#vectors(
      missing.map(({ trace }) => searchText(trace)),
      signal,
    );
    if (vectors === null) return;
    this.#guarded(() =>
      inTransaction(this.#database, () => {
        for (const [index, { number, trace }] of missing.entries()) this.#addVector(number, trace, vectors[index]!);
      }),
    );
  }

  /** Nearest first; null when the text has no vector. */
  async #near({ tenant, text, limit, kind }: MemorySearch, signal?: AbortSignal): Promise<Near[] | null> {
    const vector = (await this.#vectors([text], signal))?.[0];
    if (vector === undefined) return null;
    const embedder = this.#options.embedder.name;
    return this.#guarded(() =>
      this.#sql.nearest
        .all({ ...{ tenant, embedder, vector, limit }, dimensions: vector.length, kind: kind ?? null })
        .flatMap(({ trace, distance }) => (distance === null ? [] : [{ trace, similarity: 1 - distance }])),
    );
  }

  #byWords({ tenant, text, limit, kind }: MemorySearch): number[] {
    const words = wordsQuery(text);
    if (words === '') return [];
    return this.#guarded(() =>
      this.#sql.byWords.all({ tenant, words, limit, kind: kind ?? null }).map(({ number }) => number),
    );
  }

  #recent({ tenant, limit, kind }: Omit<MemorySearch, 'text'>): SimilarTrace[] {
    return this.#sql.recent
      .all({ tenant, limit, kind: kind ?? null })
      .map(({ document }) => inShort(this.#parse(document), null));
  }

  #read(number: number): TraceRecord {
    return this.#parse(this.#sql.byNumber.get({ number })!.document);
  }

  /** What stands in the file is what this or another version wrote: it is checked, as a hand may have been in it. */
  #parse(document: string): TraceRecord {
    try {
      return traceSchema.parse(JSON.parse(document));
    } catch (error) {
      throw new ParleyError('unavailable', `Memory: ${this.#file} holds a trace that cannot be read: ${String(error)}`);
    }
  }
}
