import { z } from 'zod';
import type { Numbered } from './common-events.js';
import { coordinatorEventSchema } from './coordinator-events.js';
import { debateEventSchema } from './debate-events.js';
import { fanOutEventSchema } from './fan-out-events.js';
import { refinementEventSchema } from './refinement-events.js';
import { runEventSchema } from './run-events.js';
import { sessionEventSchema } from './session-events.js';
import { teamEventSchema } from './team-events.js';

/**
 * Durable events of all kinds of work (spec 09, 10): numbered from 1 without holes, a pure function of the workflow's history,
 * so that every reader and every replay sees the same numbers. `partial` is not among them: it goes by lane, attempt and
 * offset.
 */
export const durableEventSchema = z
  .union([
    sessionEventSchema,
    debateEventSchema,
    refinementEventSchema,
    fanOutEventSchema,
    runEventSchema,
    coordinatorEventSchema,
    teamEventSchema,
  ])
  .meta({ id: 'DurableEvent' });
export type DurableEvent = z.infer<typeof durableEventSchema>;
export type NumberedEvent = Numbered<DurableEvent>;

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
