import { z } from 'zod';
import { commonEvents, type Numbered, stateEventSchema } from './common-events.js';
import {
  critiqueSchema,
  refinementErrorSchema,
  refinementResultSchema,
  refinementStateSchema,
} from './refinement-status.js';
import { spendSchema } from './work.js';

const at = z.iso.datetime();
const version = z.number().int().min(1);

/** Durable events of a refinement (spec 04, 09), numbered from 1 without holes: a pure function of its history. */
export const refinementEventSchema = z
  .discriminatedUnion('event', [
    stateEventSchema('refinement', refinementStateSchema, { iteration: z.number().int().min(0) }),
    z.strictObject({
      event: z.literal('version'),
      data: z.strictObject({
        at,
        version,
        agent_id: z.string(),
        output: z.json(),
        generating_ms: z.number().int().min(0),
      }),
    }),
    z.strictObject({
      event: z.literal('critique'),
      data: critiqueSchema.extend({ at, version, agent_id: z.string() }),
    }),
    z.strictObject({
      event: z.literal('budget'),
      data: z.strictObject({
        at,
        action: z.literal('refused'),
        role: z.enum(['generator', 'critic']),
        message: z.string(),
        spend: spendSchema,
      }),
    }),
    ...commonEvents,
    z.strictObject({ event: z.literal('final'), data: refinementResultSchema }),
    z.strictObject({ event: z.literal('error'), data: refinementErrorSchema.extend({ at }) }),
  ])
  .meta({ id: 'RefinementEvent' });
export type RefinementDurableEvent = z.infer<typeof refinementEventSchema>;
export type NumberedRefinementEvent = Numbered<RefinementDurableEvent>;
