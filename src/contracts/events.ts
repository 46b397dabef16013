import { z } from 'zod';
import { laneStateSchema, provisionalSchema, sessionErrorSchema, sessionResultSchema, tierSchema } from './session.js';
import { spendSchema, waitingSchema } from './work.js';

/**
 * Durable events (spec 09, 10): numbered from 1 without holes, a pure function of the workflow's history, so that every
 * reader and every replay sees the same numbers. `partial` is not among them: it goes by lane, attempt and offset.
 */
const at = z.iso.datetime();
export const durableEventSchema = z
  .discriminatedUnion('event', [
    z.strictObject({
      event: z.literal('state'),
      data: z.strictObject({
        at,
        machine: z.literal('session'),
        from: z.string(),
        to: z.string(),
        on: z.string(),
        actions: z.array(z.string()),
        agreement: z.number(),
      }),
    }),
    z.strictObject({
      event: z.literal('lane'),
      data: z.strictObject({
        at,
        lane_id: z.string(),
        from: z.string(),
        to: laneStateSchema,
        on: z.string(),
        attempt: z.number().int(),
        tier: tierSchema,
        answer: z.json().optional(),
        reason: z.strictObject({ code: z.string(), message: z.string() }).loose().nullable().optional(),
        usage: spendSchema.optional(),
      }),
    }),
    z.strictObject({ event: z.literal('provisional'), data: provisionalSchema }),
    z.strictObject({
      event: z.literal('revision'),
      data: z.strictObject({
        at,
        replaces: z.number().int(),
        because: z.enum(['agreement_fell', 'leader_changed', 'expired']),
        agreement: z.number(),
        answer: z.json().nullable(),
      }),
    }),
    z.strictObject({ event: z.literal('final'), data: sessionResultSchema }),
    z.strictObject({ event: z.literal('waiting'), data: waitingSchema.nullable() }),
    z.strictObject({
      event: z.literal('budget'),
      data: z.looseObject({ at, action: z.string(), lane_id: z.string().optional() }),
    }),
    z.strictObject({ event: z.literal('log'), data: z.strictObject({ at, message: z.string() }) }),
    z.strictObject({ event: z.literal('error'), data: sessionErrorSchema.extend({ at }) }),
  ])
  .meta({ id: 'DurableEvent' });
export type DurableEvent = z.infer<typeof durableEventSchema>;
export type NumberedEvent = DurableEvent & { id: number };

/** Text of a lane as it streams: `text` continues `attempt` at character `offset` (0-based). */
export const partialEventSchema = z
  .strictObject({
    lane_id: z.string(),
    attempt: z.number().int().min(1),
    offset: z.number().int().min(0),
    text: z.string(),
  })
  .meta({ id: 'PartialEvent' });
export type PartialEvent = z.infer<typeof partialEventSchema>;
