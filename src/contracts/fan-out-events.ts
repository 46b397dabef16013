import { z } from 'zod';
import { commonEvents, type Numbered, stateEventSchema } from './common-events.js';
import {
  barrierStatusSchema,
  fanInScoreSchema,
  fanOutErrorSchema,
  fanOutResultSchema,
  fanOutStateSchema,
  workerReasonSchema,
  workerTaskStateSchema,
} from './fan-out-status.js';

const at = z.iso.datetime();

/** Durable events of a fan-out (spec 03, 09), numbered from 1 without holes: a pure function of its history. */
export const fanOutEventSchema = z
  .discriminatedUnion('event', [
    stateEventSchema('fan-out', fanOutStateSchema, {}),
    z.strictObject({
      event: z.literal('task'),
      data: z.strictObject({
        at,
        task_id: z.string(),
        agent_id: z.string(),
        state: workerTaskStateSchema,
        late: z.boolean(),
        reason: workerReasonSchema.nullable(),
      }),
    }),
    z.strictObject({ event: z.literal('barrier'), data: barrierStatusSchema.extend({ at, passed: z.boolean() }) }),
    z.strictObject({
      event: z.literal('fan_in'),
      data: z.strictObject({
        at,
        stage: z.enum(['started', 'combined', 'scored']),
        aggregation_strategy: z.string(),
        results: z.number().int().min(0),
        conflicts: z.number().int().min(0),
        quality: fanInScoreSchema.nullable(),
      }),
    }),
    ...commonEvents,
    z.strictObject({ event: z.literal('final'), data: fanOutResultSchema }),
    z.strictObject({ event: z.literal('error'), data: fanOutErrorSchema.extend({ at }) }),
  ])
  .meta({ id: 'FanOutEvent' });
export type FanOutDurableEvent = z.infer<typeof fanOutEventSchema>;
export type NumberedFanOutEvent = Numbered<FanOutDurableEvent>;
