import { z } from 'zod';
import { feedbackAnswerSchema, feedbackRequestSchema } from './feedback.js';
import { waitingSchema } from './work.js';

const at = z.iso.datetime();

/** Durable events that several kinds of work have in common (spec 10 "Session"). */
export const waitingEventSchema = z.strictObject({ event: z.literal('waiting'), data: waitingSchema.nullable() });
export const logEventSchema = z.strictObject({
  event: z.literal('log'),
  data: z.strictObject({ at, message: z.string() }),
});
/** The work went back to an earlier point and goes on from there (spec 07 "Restore"). */
export const restoredEventSchema = z.strictObject({
  event: z.literal('restored'),
  data: z.strictObject({ at, checkpoint: z.number().int().min(0), reason: z.string(), by: z.string() }),
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
