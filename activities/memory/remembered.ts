import {
  type Rating,
  type RatingTable,
  type SimilarTrace,
  type TraceRecord,
  traceSchema,
} from '../../src/contracts/memory.js';
import { firstElo } from '../../src/domain/elo.js';
import { ParleyError } from '../../src/domain/errors.js';

/** A trace as it may be kept. @throws ParleyError invalid_request, naming every fault: trying again does not help */
export const checked = (given: TraceRecord): TraceRecord => {
  const parsed = traceSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the trace'}: ${message}`);
  throw new ParleyError('invalid_request', `Memory cannot keep a trace with faults: ${faults.join('; ')}.`);
};

/** What the words and the vector of a trace are made from: what was asked and how it went, not the plan's commands. */
export const searchText = ({ task, summary, tags }: TraceRecord): string =>
  [task, summary, tags.map(({ tag }) => tag).join(' ')].filter((part) => part !== '').join('\n');

/** A trace in short. @param similarity cosine, held within -1 to 1, which rounding can leave; null where none was measured */
export const inShort = (trace: TraceRecord, similarity: number | null): SimilarTrace => {
  const { trace_id, work_id, kind, task, outcome, decision, consensus, verified, summary, tags, created_at } = trace;
  const cosine = similarity === null ? null : Math.min(1, Math.max(-1, similarity));
  return {
    trace_id,
    work_id,
    kind,
    task,
    outcome,
    decision,
    consensus,
    verified,
    summary,
    tags,
    created_at,
    similarity: cosine,
  };
};

/** 1 for each persona that argued in work that was verified, else 0 (details 2.3). */
export const successOf = (trace: TraceRecord, { argued }: { argued: boolean }): 0 | 1 =>
  trace.verified && argued ? 1 : 0;

/** The ratings of those who were asked for; a persona without a match starts at 1200. */
export const ratingTable = (personas: readonly string[], ratings: readonly Rating[]): RatingTable =>
  Object.fromEntries(
    personas.map((persona) => {
      const {
        elo = firstElo,
        matches = 0,
        successes = 0,
      } = ratings.find(({ persona_id }) => persona_id === persona) ?? {};
      return [persona, { elo, matches, successes }];
    }),
  );

/** Highest first; equal ones by name, so that every reader sees the same order. */
export const byElo = (a: Rating, b: Rating): number => b.elo - a.elo || (a.persona_id < b.persona_id ? -1 : 1);

/** Newest first. */
export const byTime = (a: SimilarTrace, b: SimilarTrace): number => (a.created_at < b.created_at ? 1 : -1);

/** Most alike first; those whose likeness nobody measured come last. */
export const bySimilarity = (a: SimilarTrace, b: SimilarTrace): number => (b.similarity ?? -2) - (a.similarity ?? -2);
