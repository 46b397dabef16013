import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { Rating, RatingChange } from '../../src/contracts/memory.js';
import type { Database } from './database.js';

type Value = string | number | Float32Array | null;

/** A statement by the names of its parameters and columns. */
interface Statement<Parameters extends Record<string, Value>, Row> {
  get(parameters: Parameters): Row | undefined;
  all(parameters: Parameters): Row[];
  run(parameters: Parameters): { changes: number; lastInsertRowid: number | bigint };
}

interface Document {
  document: string;
}

/** Every statement of memory, prepared once: preparing them anew costs more than running most of them. */
export const prepareStatements = (database: Database) => {
  const statement = <Parameters extends Record<string, Value>, Row = never>(
    sql: string,
  ): Statement<Parameters, Row> => {
    const prepared: StatementSyncInstance = database.prepare(sql);
    return {
      get: (parameters) => prepared.get(parameters) as Row | undefined,
      // Rows have no prototype; ours do, as everything else that is compared or sent.
      all: (parameters) => prepared.all(parameters).map((row: object) => ({ ...row })) as Row[],
      run: (parameters) => prepared.run(parameters),
    };
  };
  return {
    byId: statement<{ traceId: string }, Document & { work_id: string; tenant: string }>(
      'SELECT work_id, tenant, document FROM traces WHERE trace_id = :traceId',
    ),
    byNumber: statement<{ number: number }, Document>('SELECT document FROM traces WHERE number = :number'),
    recent: statement<{ tenant: string; kind: string | null; limit: number }, Document>(
      `SELECT document FROM traces WHERE tenant = :tenant AND (:kind IS NULL OR kind = :kind)
       ORDER BY created_at DESC, number DESC LIMIT :limit`,
    ),
    byWords: statement<{ tenant: string; kind: string | null; words: string; limit: number }, { number: number }>(
      `SELECT number FROM trace_words JOIN traces ON number = trace_words.rowid
       WHERE trace_words MATCH :words AND tenant = :tenant AND (:kind IS NULL OR kind = :kind)
       ORDER BY bm25(trace_words), number DESC LIMIT :limit`,
    ),
    nearest: statement<
      {
        tenant: string;
        kind: string | null;
        embedder: string;
        dimensions: number;
        vector: Float32Array;
        limit: number;
      },
      { trace: number; distance: number | null }
    >(
      // No condition on the distance: it would be measured twice.
      `SELECT trace, vec_distance_cosine(vector, :vector) AS distance FROM vectors
       WHERE tenant = :tenant AND embedder = :embedder AND dimensions = :dimensions AND (:kind IS NULL OR kind = :kind)
       ORDER BY distance NULLS LAST, trace DESC LIMIT :limit`,
    ),
    ratings: statement<{ tenant: string }, Rating>(
      'SELECT persona_id, elo, matches, successes FROM ratings WHERE tenant = :tenant',
    ),
    countWithoutVector: statement<{ tenant: string; embedder: string }, { count: number }>(
      `SELECT (SELECT count(*) FROM traces WHERE tenant = :tenant)
            - (SELECT count(*) FROM vectors WHERE tenant = :tenant AND embedder = :embedder) AS count`,
    ),
    withoutVector: statement<{ tenant: string; embedder: string; limit: number }, Document & { number: number }>(
      `SELECT number, document FROM traces WHERE tenant = :tenant AND NOT EXISTS (
         SELECT 1 FROM vectors WHERE vectors.tenant = :tenant AND embedder = :embedder AND trace = number
       ) ORDER BY number DESC LIMIT :limit`,
    ),
    addTrace: statement<{
      traceId: string;
      workId: string;
      tenant: string;
      kind: string;
      createdAt: string;
      document: string;
    }>(
      `INSERT INTO traces (trace_id, work_id, tenant, kind, created_at, document)
       VALUES (:traceId, :workId, :tenant, :kind, :createdAt, :document)`,
    ),
    addChange: statement<{ tenant: string; personaId: string; trace: number; delta: number; success: number }>(
      'INSERT INTO elo_changes (tenant, persona_id, trace, delta, success) VALUES (:tenant, :personaId, :trace, :delta, :success)',
    ),
    addWords: statement<{ trace: number; task: string; summary: string; tags: string }>(
      'INSERT INTO trace_words (rowid, task, summary, tags) VALUES (:trace, :task, :summary, :tags)',
    ),
    addVector: statement<{
      trace: number;
      tenant: string;
      kind: string;
      embedder: string;
      dimensions: number;
      vector: Float32Array;
    }>(
      `INSERT INTO vectors (trace, tenant, kind, embedder, dimensions, vector)
       VALUES (:trace, :tenant, :kind, :embedder, :dimensions, :vector) ON CONFLICT DO NOTHING`,
    ),
    unmirrored: statement<{ limit: number }, Document>(
      'SELECT document FROM traces WHERE mirrored = 0 ORDER BY number LIMIT :limit',
    ),
    unmirroredIds: statement<{ tenant: string }, { trace_id: string }>(
      'SELECT trace_id FROM traces WHERE mirrored = 0 AND tenant = :tenant',
    ),
    unmirroredChanges: statement<{ tenant: string }, RatingChange>(
      `SELECT persona_id, sum(delta) AS delta, count(*) AS matches, sum(success) AS successes
       FROM traces JOIN elo_changes ON trace = number
       WHERE mirrored = 0 AND traces.tenant = :tenant GROUP BY persona_id`,
    ),
    markMirrored: statement<{ traceId: string }>('UPDATE traces SET mirrored = 1 WHERE trace_id = :traceId'),
  };
};

export type Statements = ReturnType<typeof prepareStatements>;
