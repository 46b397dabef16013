import { z } from 'zod';
import {
  commonEvents,
  feedbackReceivedEventSchema,
  feedbackRequestedEventSchema,
  type Numbered,
  stateEventSchema,
} from './common-events.js';
import { coordinatorAnswerSchema } from './coordinator.js';
import {
  aggregationChangeSchema,
  coordinatedRunSchema,
  coordinatorIdSchema,
  coordinatorResultSchema,
  coordinatorStateSchema,
} from './coordinator-status.js';
import { feedbackRequestIdSchema } from './feedback.js';

const at = z.iso.datetime();

/** An answer on its way from the coordinator to its run (details 5.4). */
export const distributedFeedbackSchema = z
  .strictObject({
    at,
    source: z.literal('parallel_coordination'),
    run_id: z.string(),
    work_id: z.string(),
    phase: z.string().nullable(),
    step: z.string().nullable(),
    message: z.string(),
    metadata: z.strictObject({
      coordinator_id: coordinatorIdSchema,
      request_id: feedbackRequestIdSchema,
      response: z.string(),
      provided_by: z.string(),
      source: z.string(),
    }),
  })
  .meta({ id: 'DistributedFeedback' });
export type DistributedFeedback = z.infer<typeof distributedFeedbackSchema>;

/** Durable events of a coordinator (spec 06, 10), numbered from 1 without holes: a pure function of its history. */
export const coordinatorEventSchema = z
  .discriminatedUnion('event', [
    stateEventSchema('coordinator', coordinatorStateSchema, {}),
    z.strictObject({
      event: z.literal('run'),
      data: coordinatedRunSchema.extend({ at, reason: z.string().optional() }),
    }),
    z.strictObject({ event: z.literal('aggregation'), data: aggregationChangeSchema }),
    z.strictObject({ event: z.literal('responses'), data: coordinatorAnswerSchema.extend({ at }) }),
    feedbackRequestedEventSchema,
    z.strictObject({
      event: z.literal('feedback_received'),
      data: z.union([distributedFeedbackSchema, feedbackReceivedEventSchema.shape.data]),
    }),
    ...commonEvents,
    z.strictObject({ event: z.literal('final'), data: coordinatorResultSchema }),
  ])
  .meta({ id: 'CoordinatorEvent' });
export type CoordinatorDurableEvent = z.infer<typeof coordinatorEventSchema>;
export type NumberedCoordinatorEvent = Numbered<CoordinatorDurableEvent>;
