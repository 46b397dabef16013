import { z } from 'zod';
import { type Kind, workIdSchema } from '../contracts/work.js';
import { type ProblemCode, ProblemError } from './problem.js';

/** Of a request whose path says all. */
export const pathAlone = { query: z.strictObject({}), headers: z.object({}), body: null };

/** What cannot be an id is not known either. @throws ProblemError not_found */
export const knownId = (kind: Kind, id: string): string => {
  if (!workIdSchema.safeParse(id).success)
    throw new ProblemError('not_found', `There is no ${kind} ${id.slice(0, 128)}.`);
  return id;
};

/** The header by which a request that is sent again counts once; `description` says what that means here. */
export const idempotencyKey = (description: string) => z.string().min(1).max(255).optional().meta({ description });

/** Who is a worker of a fan-out says so. */
export const workerHeader = z
  .string()
  .max(512)
  .optional()
  .meta({ description: 'Sent by what runs inside a worker of a fan-out, which may start nothing.' });

/** Where a stream of events is resumed. */
const eventNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number from 0, the id of the last event that was read')
  .transform(Number)
  .optional();

/** Of a request for events from where its caller has stopped reading, and of the answer to it. */
export const resumedEvents = {
  query: z.strictObject({
    last_event_id: eventNumber.meta({
      description: 'For clients that cannot send the header, which goes before this.',
    }),
  }),
  headers: z.object({ 'last-event-id': eventNumber }),
  body: null,
  responses: { 200: { description: 'The events.', schema: z.string() } },
  streams: true,
};

/** The number after which the events are asked for. */
export const lastRead = ({
  headers,
  query,
}: {
  headers: z.output<typeof resumedEvents.headers>;
  query: z.output<typeof resumedEvents.query>;
}): number => headers['last-event-id'] ?? query.last_event_id ?? 0;

/** What is answered to any request with a body that comes to nothing, whatever it asks for. */
export const problemsOfBody = [
  'invalid_json',
  'unauthorized',
  'too_large',
  'unsupported_media_type',
  'invalid_request',
  'unavailable',
] as const satisfies ProblemCode[];
