import { z } from 'zod';
import { artifactHashSchema } from './artifact.js';
import { sessionContextSchema } from './session-context.js';
import { workIdSchema } from './work.js';

const common = {
  checkpoint_id: z.uuid(),
  workflow_id: workIdSchema,
  sequence_num: z.number().int().min(0),
  created_at: z.iso.datetime(),
  agent_id: z.string().min(1).meta({ description: 'Whose turn ended; where only a phase did, the kind of work.' }),
  phase: z.string().meta({ description: 'The state in which it ended.' }),
  trigger: z.enum(['on_complete', 'on_error']),
  event_id: z
    .number()
    .int()
    .min(1)
    .meta({ description: "In the history of `temporal_run_id`: its workflow task's start." }),
  temporal_run_id: z.string(),
};

/** A named point of the history, as the list shows it (spec 07 "List"). */
export const checkpointItemSchema = z.strictObject(common).meta({ id: 'CheckpointItem' });
export type CheckpointItem = z.infer<typeof checkpointItemSchema>;

/** A return to an earlier point. */
export const restoreItemSchema = z
  .strictObject({
    checkpoint: z.number().int().min(0),
    reason: z.string(),
    by: z.string(),
    at: z.iso.datetime(),
    from_run_id: z.string().meta({ description: 'The run of before, which keeps what happened after the checkpoint.' }),
  })
  .meta({ id: 'Restore' });
export type RestoreItem = z.infer<typeof restoreItemSchema>;

export const checkpointListSchema = z
  .strictObject({ items: z.array(checkpointItemSchema), restores: z.array(restoreItemSchema) })
  .meta({ id: 'CheckpointList' });
export type CheckpointList = z.infer<typeof checkpointListSchema>;

/** A file as a checkpoint names it; small ones with their content (spec 07 "Artifacts"). */
export const checkpointArtifactSchema = z
  .strictObject({
    path: z.string(),
    hash: artifactHashSchema,
    size_bytes: z.number().int().min(0),
    inline: z
      .boolean()
      .meta({ description: 'Whether `content` is to be here; else it is at GET /v1/artifacts/{hash}.' }),
    content: z.base64().optional(),
    fault: z
      .enum(['corrupt', 'gone'])
      .optional()
      .meta({ description: 'What is stored has another hash, or is not there any more.' }),
  })
  .meta({ id: 'CheckpointArtifact' });

/** With the state at that point (spec 10 "Checkpoint"). */
export const checkpointSchema = z
  .strictObject({
    ...common,
    state: z.strictObject({
      session_context: sessionContextSchema,
      outputs: z
        .record(z.string(), z.json())
        .meta({ description: 'What the status document said at that point, but for its links.' }),
      errors: z.array(z.strictObject({ agent: z.string(), error: z.string(), timestamp: z.iso.datetime() })),
    }),
    artifacts: z.array(checkpointArtifactSchema).meta({ description: 'Files that the work had left by then.' }),
    metadata: z.strictObject({
      compression: z.literal('none'),
      serialization: z.literal('json'),
      version: z.string().regex(/^\d+\.\d+$/, 'must be major.minor'),
    }),
  })
  .meta({ id: 'Checkpoint' });
export type Checkpoint = z.infer<typeof checkpointSchema>;
