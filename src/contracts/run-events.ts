import { z } from 'zod';
import {
  commonEvents,
  feedbackReceivedEventSchema,
  feedbackRequestedEventSchema,
  type Numbered,
  stateEventSchema,
} from './common-events.js';
import { runStepKinds } from './run.js';
import { runErrorSchema, runResultSchema, runStateSchema, runStepStateSchema } from './run-status.js';
import { spendSchema, workIdSchema } from './work.js';

const at = z.iso.datetime();

/** Durable events of a run (spec 06, 09), numbered from 1 without holes: a pure function of its history. */
export const runEventSchema = z
  .discriminatedUnion('event', [
    stateEventSchema('run', runStateSchema, { phase: z.string(), step: z.string() }),
    z.strictObject({
      event: z.literal('step'),
      data: z.strictObject({
        at,
        phase: z.string(),
        step: z.string(),
        kind: z.enum(runStepKinds),
        state: runStepStateSchema,
        attempt: z.number().int().min(0).meta({ description: '0: it has not been tried.' }),
        work_id: workIdSchema.nullable(),
        output: z.json(),
        error: z.strictObject({ code: z.string(), message: z.string(), retryable: z.boolean() }).nullable(),
      }),
    }),
    z.strictObject({
      event: z.literal('budget'),
      data: z.strictObject({ at, action: z.enum(['refused', 'ended']), message: z.string(), spend: spendSchema }),
    }),
    feedbackRequestedEventSchema,
    feedbackReceivedEventSchema,
    z.strictObject({
      event: z.literal('feedback_expired'),
      data: z.strictObject({ at, request_id: z.string(), counts_as: z.string() }),
    }),
    ...commonEvents,
    z.strictObject({ event: z.literal('final'), data: runResultSchema }),
    z.strictObject({ event: z.literal('error'), data: runErrorSchema.extend({ at }) }),
  ])
  .meta({ id: 'RunEvent' });
export type RunDurableEvent = z.infer<typeof runEventSchema>;
export type NumberedRunEvent = Numbered<RunDurableEvent>;
