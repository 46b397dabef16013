import { z } from 'zod';
import { forkOriginSchema, kindSchema, lifecycleSchema, spendSchema, startCommon, workIdSchema } from './work.js';

const anyJson = z.json();

const checkpoint = z.number().int().min(0).meta({ description: '`sequence_num` of the checkpoint.', example: 2 });

/** POST /v1/{kind}/{id}/restore (spec 07). */
export const restoreBodySchema = z
  .strictObject({
    checkpoint,
    reason: z.string().trim().min(1).max(2_000).meta({ description: 'Why; it stays with the work.' }),
    rollback: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether what was done since is taken back first, where the kind of work can.' }),
  })
  .meta({ id: 'RestoreBody' });
export type RestoreBody = z.infer<typeof restoreBodySchema>;

export const restoredSchema = z
  .strictObject({
    id: workIdSchema,
    kind: kindSchema,
    checkpoint,
    temporal_run_id: z.string(),
    status_url: z.string(),
    events_url: z.string(),
    web_ui_url: z.string(),
  })
  .meta({ id: 'Restored' });
export type Restored = z.infer<typeof restoredSchema>;

/** POST /v1/{kind}/{id}/fork (spec 07, 08 "Fork with a question"). */
export const forkBodySchema = z
  .strictObject({
    checkpoint,
    id: startCommon.id,
    change: z
      .record(z.string(), anyJson)
      .default({})
      .meta({
        description:
          'A JSON Merge Patch (RFC 7396) of the body that the work was started with. Members of lists that have an identity ' +
          '(lane_id, task_id, agent_id, name) are merged by it.',
      }),
    answer: z
      .strictObject({
        response: z.string().min(1).max(64),
        comment: z.string().max(10_000).optional(),
      })
      .optional()
      .meta({
        description: 'Given to the request for feedback that is open at the checkpoint, asked again by the fork.',
      }),
  })
  .meta({ id: 'ForkBody' });
export type ForkBody = z.infer<typeof forkBodySchema>;

/** One side of a comparison. */
export const comparedSchema = z
  .strictObject({
    id: workIdSchema,
    kind: kindSchema,
    lifecycle: lifecycleSchema,
    state: z.string(),
    answer: anyJson.meta({ description: 'null: there is none yet.' }),
    agreement: z
      .number()
      .nullable()
      .meta({
        description:
          'Agreement of a session, consensus of a debate, score of a refinement; of a fan-out, a run or a coordinator the share ' +
          'that completed of its tasks, steps or runs. null: there is none yet.',
      }),
    spend: spendSchema.meta({ description: 'Of a coordinator its own alone: its runs have theirs.' }),
    elapsed_ms: z.number().int().min(0).meta({ description: 'Until now while it runs.' }),
    started_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    forked_from: forkOriginSchema.nullable(),
  })
  .meta({ id: 'Compared' });
export type Compared = z.infer<typeof comparedSchema>;

/** GET /v1/compare?a=&b= */
export const comparisonSchema = z
  .strictObject({
    a: comparedSchema,
    b: comparedSchema,
    differences: z.array(z.strictObject({ path: z.string(), a: anyJson.optional(), b: anyJson.optional() })).meta({
      description: 'Where the bodies that they were started with differ; a side that is left out has nothing there.',
    }),
    more_differences: z.number().int().min(0).meta({ description: 'How many differences are not listed.' }),
  })
  .meta({ id: 'Comparison' });
export type Comparison = z.infer<typeof comparisonSchema>;
