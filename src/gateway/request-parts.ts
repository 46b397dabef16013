import { z } from 'zod';
import type { ProblemCode } from './problem.js';

/** The header by which a request that is sent again counts once; `description` says what that means here. */
export const idempotencyKey = (description: string) => z.string().min(1).max(255).optional().meta({ description });

/** Who is a worker of a fan-out says so. */
export const workerHeader = z
  .string()
  .max(512)
  .optional()
  .meta({ description: 'Sent by what runs inside a worker of a fan-out, which may start nothing.' });

/** Where a stream of events is resumed, in a query or a header. */
export const eventNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number from 0, the id of the last event that was read')
  .transform(Number)
  .optional();

/** What is answered to any request with a body that comes to nothing, whatever it asks for. */
export const problemsOfBody = [
  'invalid_json',
  'unauthorized',
  'too_large',
  'unsupported_media_type',
  'invalid_request',
  'unavailable',
] as const satisfies ProblemCode[];
