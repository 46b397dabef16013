import { z } from 'zod';
import { ranPlanSchema } from './plan.js';
import { tenantSchema, workIdSchema, shareSchema } from './work.js';

export const traceIdSchema = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'must be 32 hexadecimal digits in lower case')
  .meta({ description: 'Trace id of the piece of work; what is remembered of it is kept once under it.' });

/** Kinds of work that leave a trace in memory. */
export const traceKinds = ['debate'] as const;
export const traceKindSchema = z.enum(traceKinds);
export type TraceKind = z.infer<typeof traceKindSchema>;

export const traceOutcomes = ['succeeded', 'blocked', 'rolled_back', 'rollback_incomplete'] as const;
export const traceDecisions = ['PROCEED', 'REJECT', 'VETO'] as const;

const nameSchema = z.string().min(1).max(128);
export const tagSchema = z.strictObject({ tag: z.string().min(1).max(64), score: shareSchema }).meta({ id: 'Tag' });
export type Tag = z.infer<typeof tagSchema>;

/** One role's latest statement as it was counted. */
export const traceVoteSchema = z
  .strictObject({
    role: nameSchema,
    persona_id: nameSchema,
    stance: z.enum(['for', 'against', 'abstain']),
    confidence: shareSchema,
    weight: z.number().min(0),
  })
  .meta({ id: 'TraceVote' });
export type TraceVote = z.infer<typeof traceVoteSchema>;

/** One persona that took part: one match for it, and one success if it argued and the work was verified (details 2.3). */
export const eloChangeSchema = z
  .strictObject({
    persona_id: nameSchema,
    before: z.number().meta({ description: 'Rating when the debate began; others may have changed it since.' }),
    delta: z.number(),
    argued: z.boolean().meta({ description: 'It said something that counts, and did not only abstain.' }),
  })
  .meta({ id: 'EloChange' });
export type EloChange = z.infer<typeof eloChangeSchema>;

/** The execution report in short; the whole one stands in the work's own result. */
export const reportSummarySchema = z
  .strictObject({
    tasks: z.number().int().min(0),
    succeeded: z.number().int().min(0),
    failed: z.number().int().min(0),
    repairs: z.number().int().min(0),
    diagnoses: z.array(z.string().max(10_000)).max(10),
    rolled_back: z.boolean(),
  })
  .meta({ id: 'ReportSummary' });
export type ReportSummary = z.infer<typeof reportSummarySchema>;

/** What is remembered of one piece of work, written once (spec 02 "Memory"). */
export const traceSchema = z
  .strictObject({
    trace_id: traceIdSchema,
    work_id: workIdSchema,
    kind: traceKindSchema,
    tenant: tenantSchema,
    task: z.string().min(1).max(1_000_000),
    outcome: z.enum(traceOutcomes),
    decision: z.enum(traceDecisions),
    consensus: shareSchema,
    passes: z.number().int().min(1),
    verified: z.boolean().meta({ description: 'Every task ran and every assertion holds.' }),
    summary: z.string().max(10_000).meta({ description: 'In a few sentences, why it ended as it did.' }),
    plan: ranPlanSchema.nullable(),
    votes: z.array(traceVoteSchema).max(100),
    tags: z.array(tagSchema).max(100),
    report: reportSummarySchema.nullable(),
    elo_changes: z
      .array(eloChangeSchema)
      .max(100)
      .refine(
        (changes) => new Set(changes.map(({ persona_id }) => persona_id)).size === changes.length,
        'must name each persona once; add the changes of its roles up',
      ),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Trace' });
export type TraceRecord = z.infer<typeof traceSchema>;

/** A trace as others see it who only want to learn from it. */
export const similarTraceSchema = z
  .strictObject({
    trace_id: traceIdSchema,
    work_id: workIdSchema,
    kind: traceKindSchema,
    task: z.string(),
    outcome: z.enum(traceOutcomes),
    decision: z.enum(traceDecisions),
    consensus: shareSchema,
    verified: z.boolean(),
    summary: z.string(),
    tags: z.array(tagSchema),
    created_at: z.iso.datetime(),
    similarity: z.number().min(-1).max(1).nullable().meta({
      description: 'Cosine to what was asked, of the same embedder; null where it was found by words or by time alone.',
    }),
  })
  .meta({ id: 'SimilarTrace' });
export type SimilarTrace = z.infer<typeof similarTraceSchema>;

export const tracesSchema = z.strictObject({ items: z.array(similarTraceSchema) }).meta({ id: 'Traces' });
export type Traces = z.infer<typeof tracesSchema>;

/** A persona's standing with a tenant: the sum of all its changes, from 1200. */
export const ratingSchema = z
  .strictObject({
    persona_id: nameSchema,
    elo: z.number(),
    matches: z.number().int().min(0),
    successes: z.number().int().min(0),
  })
  .meta({ id: 'Rating' });
export type Rating = z.infer<typeof ratingSchema>;

export const ratingsSchema = z.strictObject({ items: z.array(ratingSchema) }).meta({ id: 'Ratings' });
export type Ratings = z.infer<typeof ratingsSchema>;

/** What some traces did to a rating. */
export interface RatingChange {
  persona_id: string;
  delta: number;
  matches: number;
  successes: number;
}

/** By persona id; of every persona that was asked for, those without a match included. */
export type RatingTable = Record<string, { elo: number; matches: number; successes: number }>;

export interface ContextQuery {
  tenant: string;
  task: string;
  personas: string[];
  /** How many traces of each sort, 0–100. */
  topK: number;
}

export interface MemoryContext {
  ratings: RatingTable;
  /** Highest cosine first, of traces whose vectors the same embedder made. */
  similar: SimilarTrace[];
  /** Newest first. */
  recent: SimilarTrace[];
}

export interface MemorySearch {
  tenant: string;
  /** Empty: the newest traces. */
  text: string;
  /** 1–200. */
  limit: number;
  kind?: TraceKind | undefined;
}

/** Whether this call put the trace there; false: it was there already. */
export interface Stored {
  stored: boolean;
}

/** What can be asked of memory, wherever it is kept. Calls reject with ParleyError `unavailable` when it cannot be reached. */
export interface MemoryReader {
  /** Best first: what matches by words and what matches by vector, merged by their ranks. */
  search(query: MemorySearch, signal?: AbortSignal): Promise<SimilarTrace[]>;
  trace(tenant: string, traceId: string, signal?: AbortSignal): Promise<TraceRecord | null>;
  /** Highest rating first. */
  ratings(tenant: string, signal?: AbortSignal): Promise<Rating[]>;
}

/** The worker's own memory (SQLite), always there. */
export interface MemoryPort extends MemoryReader {
  context(query: ContextQuery, signal?: AbortSignal): Promise<MemoryContext>;
  /**
   * Keeps a trace and changes the ratings in one transaction, once however often it is called.
   * @throws ParleyError conflict when the trace id is that of another piece of work
   */
  store(trace: TraceRecord, signal?: AbortSignal): Promise<Stored>;
  /** Traces that no mirror has confirmed yet, oldest first. */
  unmirrored(limit: number): Promise<TraceRecord[]>;
  /** What those traces alone did to a tenant's ratings. */
  unmirroredChanges(tenant: string): Promise<{ traceIds: string[]; changes: RatingChange[] }>;
  markMirrored(traceId: string): Promise<void>;
  close(): Promise<void>;
}

/** The memory that several machines share (MongoDB), there when it is configured. */
export interface MirrorPort {
  mirror(trace: TraceRecord, signal?: AbortSignal): Promise<Stored>;
  similar(query: Omit<ContextQuery, 'personas'>, signal?: AbortSignal): Promise<SimilarTrace[]>;
  search(query: MemorySearch, signal?: AbortSignal): Promise<SimilarTrace[]>;
  trace(tenant: string, traceId: string, signal?: AbortSignal): Promise<TraceRecord | null>;
  /** Summed over all its traces but those of `except`, which the asker adds from its own memory. */
  ratings(tenant: string, except: readonly string[], signal?: AbortSignal): Promise<Rating[]>;
  close(): Promise<void>;
}

/** What a debate is given of the past. */
export interface LoadedContext extends MemoryContext {
  /** null: no MongoDB is configured; false: it could not be reached, and what it alone knows is missing. */
  mongo: boolean | null;
  error: string | null;
}

/** Of a debate's result (spec 10 `memory`). */
export const memoryReportSchema = z
  .strictObject({
    sqlite: z.boolean(),
    mongo: z.boolean(),
    error: z
      .string()
      .optional()
      .meta({ description: 'Why MongoDB does not hold it; it is tried again with the next trace.' }),
  })
  .meta({ id: 'MemoryReport' });
export type MemoryReport = z.infer<typeof memoryReportSchema>;
