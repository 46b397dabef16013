import type { ContextQuery, LoadedContext, RatingTable, Stored, TraceRecord } from '../../src/contracts/memory.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { OnError } from './embedder.js';
import { JoinedMemory, type Memories } from './joined.js';
import { ratingTable } from './remembered.js';

export interface MemoryActivityPorts extends Memories {
  onError: OnError;
}

/** Whether MongoDB holds the trace now; `error` is there for who reports a mirroring that failed. */
export interface Mirrored {
  mongo: boolean;
  error: string | null;
}

/** Traces of before that one mirroring takes along, so that a MongoDB that was away catches up by and by. */
const caughtUpAtOnce = 200;

/**
 * The activities of memory. Each may be repeated at will: it is idempotent by the trace id, or only reads. `signal` is that of
 * the activity's cancellation, `beat` its heartbeat.
 */
export const createMemoryActivities = ({ memory, mirror, onError }: MemoryActivityPorts) => {
  const joined = new JoinedMemory({ memory, mirror }, onError);
  return {
    /** What a debate starts from. A MongoDB that is away costs half a second and stops nothing: `mongo` is false then. */
    loadContext: (query: ContextQuery, signal?: AbortSignal): Promise<LoadedContext> => joined.context(query, signal),

    /** Of all personas that are asked for, those without a match included. */
    loadRatings: async (
      { tenant, personas }: { tenant: string; personas: string[] },
      signal?: AbortSignal,
    ): Promise<RatingTable> => ratingTable(personas, await joined.ratings(tenant, signal)),

    /** @throws ParleyError unavailable; retryable when it may pass (a lock, a full disk) */
    storeTrace: (trace: TraceRecord, signal?: AbortSignal): Promise<Stored> => memory.store(trace, signal),

    /**
     * Copies a stored trace to MongoDB, and those with it that could not be copied before.
     * @returns mongo: false when none is configured
     * @throws ParleyError unavailable: the debate goes on all the same, and a later mirroring takes the trace along
     */
    mirrorTrace: async (trace: TraceRecord, signal?: AbortSignal, beat = (): void => {}): Promise<Mirrored> => {
      if (mirror === null) return { mongo: false, error: null };
      await mirror.mirror(trace, signal);
      await memory.markMirrored(trace.trace_id);
      try {
        for (const late of await memory.unmirrored(caughtUpAtOnce)) {
          signal?.throwIfAborted();
          beat();
          await mirror.mirror(late, signal);
          await memory.markMirrored(late.trace_id);
        }
      } catch (error) {
        if (signal?.aborted === true || !(error instanceof ParleyError)) throw error;
        onError(error, 'MongoDB has not caught up yet; the next trace tries again');
      }
      return { mongo: true, error: null };
    },
  };
};

export type MemoryActivities = ReturnType<typeof createMemoryActivities>;
