import { z } from 'zod';
import { feedbackAnswerSchema, feedbackRequestSchema } from './feedback.js';
import { type Kind, waitingSchema } from './work.js';

const at = z.iso.datetime();

const waitingEventSchema = z.strictObject({ event: z.literal('waiting'), data: waitingSchema.nullable() });
const logEventSchema = z.strictObject({
  event: z.literal('log'),
  data: z.strictObject({ at, message: z.string() }),
});
/** The work went back to an earlier point and goes on from there (spec 07 "Restore"). */
const restoredEventSchema = z.strictObject({
  event: z.literal('restored'),
  data: z.strictObject({ at, checkpoint: z.number().int().min(0), reason: z.string(), by: z.string() }),
});
/** Durable events that every kind of work has (spec 10 "Session"), beside its states and its end. */
export const commonEvents = [waitingEventSchema, restoredEventSchema, logEventSchema] as const;

/** A step of the machine of a kind of work; `more` is what else it tells then. */
export const stateEventSchema = <K extends Kind, S extends z.ZodType, M extends z.ZodRawShape>(
  kind: K,
  state: S,
  more: M,
) =>
  z.strictObject({
    event: z.literal('state'),
    data: z.strictObject({
      at,
      machine: z.literal(kind),
      from: state,
      to: state,
      on: z.string(),
      actions: z.array(z.string()),
      ...more,
    }),
  });
export const feedbackRequestedEventSchema = z.strictObject({
  event: z.literal('feedback_requested'),
  data: z.strictObject({ at, request: feedbackRequestSchema }),
});
export const feedbackReceivedEventSchema = z.strictObject({
  event: z.literal('feedback_received'),
  data: z.strictObject({ at, answer: feedbackAnswerSchema, outcome: z.string() }),
});

/** An event with its number, from 1 without holes within one piece of work. */
export type Numbered<E extends { event: string }> = E & { id: number };
