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
