import type {
  ContextQuery,
  LoadedContext,
  MemoryPort,
  MemoryReader,
  MemorySearch,
  MirrorPort,
  Rating,
  RatingChange,
  SimilarTrace,
  TraceRecord,
} from '../../src/contracts/memory.js';
import { firstElo } from '../../src/domain/elo.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { OnError } from './embedder.js';
import { byElo, bySimilarity, byTime, ratingTable } from './remembered.js';

export interface Memories {
  memory: MemoryPort;
  /** null: no MongoDB is configured. */
  mirror: MirrorPort | null;
}

/** Each trace once, as the first of the lists has it: a trace is the same wherever it is kept. */
const union = (...lists: SimilarTrace[][]): SimilarTrace[] => [
  ...new Map(
    lists
      .flat()
      .toReversed()
      .map((trace) => [trace.trace_id, trace]),
  ).values(),
];

const added = (ratings: readonly Rating[], changes: readonly RatingChange[]): Rating[] => {
  const sums = new Map(ratings.map((rating) => [rating.persona_id, rating]));
  for (const { persona_id, delta, matches, successes } of changes) {
    const before = sums.get(persona_id) ?? { persona_id, elo: firstElo, matches: 0, successes: 0 };
    sums.set(persona_id, {
      persona_id,
      elo: before.elo + delta,
      matches: before.matches + matches,
      successes: before.successes + successes,
    });
  }
  return [...sums.values()].sort(byElo);
};

/**
 * A worker's own memory and the one that machines share, as one. What stands in only one of them counts once; a MongoDB that
 * cannot be reached is told, and the own memory answers alone.
 */
export class JoinedMemory implements MemoryReader {
  constructor(
    private readonly memories: Memories,
    private readonly onError: OnError,
  ) {}

  async context(query: ContextQuery, signal?: AbortSignal): Promise<LoadedContext> {
    const { memory, mirror } = this.memories;
    const { tenant, topK, personas } = query;
    const own = await memory.context(query, signal);
    if (mirror === null) return { ...own, mongo: null, error: null };
    try {
      const [similar, recent, ratings] = await Promise.all([
        mirror.similar(query, signal),
        mirror.search({ tenant, text: '', limit: Math.max(1, topK) }, signal),
        this.#sharedRatings(tenant, mirror, signal),
      ]);
      return {
        ratings: ratingTable(personas, ratings),
        similar: union(own.similar, similar).sort(bySimilarity).slice(0, topK),
        recent: union(own.recent, recent).sort(byTime).slice(0, topK),
        mongo: true,
        error: null,
      };
    } catch (error) {
      return { ...own, mongo: false, error: this.#told(error) };
    }
  }

  async search(query: MemorySearch, signal?: AbortSignal): Promise<SimilarTrace[]> {
    const own = await this.memories.memory.search(query, signal);
    return await this.#with(own, async (mirror) => {
      const theirs = await mirror.search(query, signal);
      const all = new Map(union(own, theirs).map((trace) => [trace.trace_id, trace]));
      if (query.text.trim() === '') return [...all.values()].sort(byTime).slice(0, query.limit);
      // MongoDB ranks nearly everything; what stands here alone comes in at the rank that it has here.
      const ranks = new Map([...own.entries(), ...theirs.entries()].map(([rank, { trace_id }]) => [trace_id, rank]));
      const rankOf = ({ trace_id }: SimilarTrace): number => ranks.get(trace_id) ?? Infinity;
      return [...all.values()].sort((a, b) => rankOf(a) - rankOf(b)).slice(0, query.limit);
    });
  }

  async trace(tenant: string, traceId: string, signal?: AbortSignal): Promise<TraceRecord | null> {
    const own = await this.memories.memory.trace(tenant, traceId, signal);
    if (own !== null) return own;
    return await this.#with(null, (mirror) => mirror.trace(tenant, traceId, signal));
  }

  async ratings(tenant: string, signal?: AbortSignal): Promise<Rating[]> {
    const own = await this.memories.memory.ratings(tenant, signal);
    return await this.#with(own, (mirror) => this.#sharedRatings(tenant, mirror, signal));
  }

  /** The sums over all that MongoDB holds, and over what is still to get there. */
  async #sharedRatings(tenant: string, mirror: MirrorPort, signal?: AbortSignal): Promise<Rating[]> {
    const { traceIds, changes } = await this.memories.memory.unmirroredChanges(tenant);
    return added(await mirror.ratings(tenant, traceIds, signal), changes);
  }

  async #with<T>(own: T, ask: (mirror: MirrorPort) => Promise<T>): Promise<T> {
    const { mirror } = this.memories;
    if (mirror === null) return own;
    try {
      return await ask(mirror);
    } catch (error) {
      this.#told(error);
      return own;
    }
  }

  /** Only what MongoDB refused is forgiven. @throws anything else */
  #told(error: unknown): string {
    if (!(error instanceof ParleyError)) throw error;
    this.onError(error, 'MongoDB could not be asked; memory answers from this machine alone');
    return error.message;
  }
}
