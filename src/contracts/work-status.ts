import { z } from 'zod';
import { type Kind, lifecycleSchema, linksSchema, workIdSchema } from './work.js';

/** What the status of any piece of work begins with (spec 10). */
export const statusHead = <K extends Kind, S extends z.ZodType>(kind: K, state: S) => ({
  id: workIdSchema,
  kind: z.literal(kind),
  tenant: z.string(),
  labels: z.record(z.string(), z.string()),
  lifecycle: lifecycleSchema,
  state,
});

/** What it ends with. */
export const statusEnd = {
  dropped_events: z.number().int().meta({ description: 'Events that came where the machine takes none.' }),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  links: linksSchema,
};
