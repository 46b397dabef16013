import { z } from 'zod';
import { commonEvents, type Numbered, stateEventSchema } from './common-events.js';
import { tierSchema } from './session.js';
import { laneStateSchema, provisionalSchema, sessionErrorSchema, sessionResultSchema } from './session-status.js';
import { spendSchema } from './work.js';

const at = z.iso.datetime();

/** Durable events of a session (spec 01, 09, 10). */
export const sessionEventSchema = z
  .discriminatedUnion('event', [
    stateEventSchema('session', z.string(), { agreement: z.number() }),
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
    ...commonEvents,
    z.strictObject({
      event: z.literal('budget'),
      data: z.looseObject({ at, action: z.string(), lane_id: z.string().optional() }),
    }),
    z.strictObject({ event: z.literal('error'), data: sessionErrorSchema.extend({ at }) }),
  ])
  .meta({ id: 'SessionEvent' });
export type SessionDurableEvent = z.infer<typeof sessionEventSchema>;
export type NumberedSessionEvent = Numbered<SessionDurableEvent>;
