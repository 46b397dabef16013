import { z } from 'zod';
import { fanOutStateNames } from '../domain/fan-out/state-names.js';
import { artifactSchema } from './artifact.js';
import { barrierPolicySchema, fanInPolicySchema, fanOutStrategies, queueOverflows } from './fan-out.js';
import { mayHelpSchema, spendSchema, waitingSchema, shareSchema, timeUsedField } from './work.js';
import { statusEnd, statusHead } from './work-status.js';

export const fanOutStateSchema = z.enum(fanOutStateNames);
export type FanOutStateName = z.infer<typeof fanOutStateSchema>;

export const workerTaskStates = [
  'QUEUED',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'REJECTED',
  'EVICTED',
  'CANCELLED',
] as const;
export const workerTaskStateSchema = z.enum(workerTaskStates);
export type WorkerTaskState = z.infer<typeof workerTaskStateSchema>;

/** Why a task ended without an answer. */
export const workerReasonSchema = z
  .strictObject({ code: z.string(), message: z.string(), retryable: mayHelpSchema.optional() })
  .meta({ id: 'WorkerReason' });

/** An answer too large to stand here: an artifact of the fan-out's tenant. */
export const keptSchema = z
  .strictObject({ sha256: z.string(), size_bytes: z.number().int().min(0) })
  .meta({ id: 'KeptAnswer', description: 'The answer as JSON is at GET /v1/artifacts/{sha256}.' });
export type Kept = z.infer<typeof keptSchema>;

/** A file that a worker left in output/ of its namespace: an artifact of the fan-out's tenant. */
export const workerArtifactSchema = z
  .strictObject({
    path: z.string().meta({ description: 'In the namespace of the worker, "output/..." always.' }),
    ...artifactSchema.shape,
  })
  .meta({ id: 'WorkerArtifact', description: 'Its content is at GET /v1/artifacts/{hash}.' });
export type WorkerArtifact = z.infer<typeof workerArtifactSchema>;

export const workerTaskSchema = z
  .strictObject({
    task_id: z.string(),
    agent_id: z.string(),
    state: workerTaskStateSchema,
    attempt: z.number().int().min(0).meta({ description: '0: it has not been started.' }),
    queued_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    ended_at: z.iso.datetime().nullable(),
    output: z.json().meta({ description: 'The answer where it is small; null: none, or see `kept`.' }),
    kept: keptSchema.nullable(),
    artifacts: z.array(workerArtifactSchema).meta({ description: 'What it left in output/, by path.' }),
    artifacts_cut: z.string().nullable().meta({ description: 'Why not all of output/ is there; null: all of it is.' }),
    reason: workerReasonSchema.nullable(),
    late: z.boolean().meta({ description: 'It ended after the barrier: recorded, not merged.' }),
  })
  .meta({ id: 'WorkerTask' });

export const barrierStatusSchema = z
  .strictObject({
    ...barrierPolicySchema.shape,
    state: z.enum(['WAITING', 'PARTIAL', 'COMPLETE']).meta({
      description: 'WAITING: no task has ended; PARTIAL: some have; COMPLETE: none is waited for.',
    }),
    total: z.number().int().min(0),
    waiting: z.number().int().min(0),
    completed: z.number().int().min(0),
    failed: z.number().int().min(0).meta({ description: 'Those rejected and evicted included.' }),
    ratio: shareSchema,
    deadline_at: z.iso.datetime().nullable(),
    released_at: z.iso.datetime().nullable(),
    released_by: z.enum(['settled', 'timeout', 'cancel']).nullable(),
  })
  .meta({ id: 'BarrierStatus' });
export type BarrierStatus = z.infer<typeof barrierStatusSchema>;

const sourceSchema = z.strictObject({ task_id: z.string(), agent_id: z.string() });

export const conflictSchema = z
  .strictObject({
    pointer: z.string().meta({ description: 'JSON pointer into the value.' }),
    task_ids: z.array(z.string()).meta({ description: 'Who said what, in the order of completion.' }),
    chosen: z.string().meta({ description: 'The task whose value stands.' }),
    by: z.enum(['first_wins', 'last_wins', 'orchestrator']),
  })
  .meta({ id: 'FanInConflict' });
export type FanInConflict = z.infer<typeof conflictSchema>;

export const provenanceSchema = z
  .strictObject({ pointer: z.string(), ...sourceSchema.shape })
  .meta({ id: 'Provenance', description: 'Which worker the value at a JSON pointer came from.' });
export type Provenance = z.infer<typeof provenanceSchema>;

export const combinedSchema = z
  .strictObject({
    value: z.json(),
    provenance: z.array(provenanceSchema),
    conflicts: z.array(conflictSchema),
    agreement: shareSchema.nullable().meta({ description: 'Of consensus; null: another strategy.' }),
    notes: z.array(z.string()),
    kept: z
      .strictObject({
        value: keptSchema.nullable(),
        provenance: keptSchema.nullable(),
        conflicts: keptSchema.nullable(),
      })
      .nullable()
      .meta({
        description:
          'What is too large to stand here, as artifacts: `value` above 256 kB is null, lists above 128 kB have their first 100 entries only. null: everything stands here.',
      }),
  })
  .meta({ id: 'FanInCombined' });
export type Combined = z.infer<typeof combinedSchema>;

export const fanInScoreSchema = z
  .strictObject({
    score: shareSchema.nullable().meta({ description: 'null: the critic gave none; see `failure`.' }),
    scores: z.record(z.string(), z.number()).nullable(),
    threshold: z.number(),
    below_threshold: z.boolean().meta({ description: 'Also true where there is no score.' }),
    feedback: z.string(),
    failure: z.string().nullable(),
  })
  .meta({ id: 'FanInScore' });
export type FanInScore = z.infer<typeof fanInScoreSchema>;

export const fanOutResultSchema = z
  .strictObject({
    partial: z.boolean().meta({ description: 'Some tasks have no part in the value.' }),
    completed: z.array(z.string()),
    failed: z.array(z.string()),
    missing: z.array(z.string()).meta({ description: 'Not ended when the barrier was released.' }),
    aggregation_strategy: z.string(),
    artifacts: z
      .array(workerArtifactSchema.extend(sourceSchema.shape))
      .meta({ description: 'Files of the tasks that completed, at most 500; the tasks have all of them.' }),
    ...combinedSchema.shape,
    quality: fanInScoreSchema.nullable(),
  })
  .meta({ id: 'FanOutResult' });
export type FanOutResult = z.infer<typeof fanOutResultSchema>;

export const fanOutErrorSchema = z.strictObject({ code: z.string(), message: z.string() }).meta({ id: 'FanOutError' });
export type FanOutError = z.infer<typeof fanOutErrorSchema>;

/** GET /v1/fan-outs/{id} (spec 10). */
export const fanOutStatusSchema = z
  .strictObject({
    ...statusHead('fan-out', fanOutStateSchema),
    fan_out: z.strictObject({
      strategy: z.enum(fanOutStrategies),
      max_concurrent: z.number().int(),
      queue_overflow: z.enum(queueOverflows),
      queue_limit: z.number().int().nullable(),
    }),
    fan_in: fanInPolicySchema.pick({ aggregation_strategy: true, conflict_resolution: true, function: true }),
    agents: z.array(z.strictObject({ agent_id: z.string(), tasks: z.number().int().min(0) })),
    tasks: z.array(workerTaskSchema).meta({ description: 'In the order of the request.' }),
    barrier: barrierStatusSchema,
    waiting: waitingSchema.nullable(),
    result: fanOutResultSchema.nullable(),
    error: fanOutErrorSchema.nullable(),
    spend: spendSchema,
    time: timeUsedField,
    ...statusEnd,
  })
  .meta({ id: 'FanOutStatus' });
export type FanOutStatus = z.infer<typeof fanOutStatusSchema>;
