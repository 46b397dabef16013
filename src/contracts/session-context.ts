import { z } from 'zod';
import { cognitiveModes } from './template.js';
import { shareSchema } from './work.js';

const remarks = z.array(z.string().max(10_000)).max(1_000);

/** What one agent hands to the next (spec 10 "Checkpoint"); checked at every hand-over. */
export const sessionContextSchema = z
  .strictObject({
    session_id: z.string().min(1).max(128),
    source_agent: z.string().min(1).max(200),
    target_agent: z.string().min(1).max(200),
    cognitive_mode: z.enum(cognitiveModes).optional(),
    payload: z.strictObject({
      key_findings: remarks,
      open_questions: remarks,
      blockers: remarks,
      confidence: shareSchema,
    }),
    artifact_refs: z.array(z.string().min(1).max(4_096)).max(1_000),
  })
  .meta({ id: 'SessionContext' });
export type SessionContext = z.infer<typeof sessionContextSchema>;
