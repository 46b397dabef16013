import { z } from 'zod';
import { shareSchema } from './work.js';

export const severities = ['critical', 'high', 'medium', 'low'] as const;
export const severitySchema = z.enum(severities).meta({ id: 'Severity' });
export type Severity = z.infer<typeof severitySchema>;

/** What a static rule found in a plan (spec 02 "Decision"); the most confident one is the least that security is against with. */
export const findingSchema = z
  .strictObject({
    rule: z.string().min(1).meta({ description: 'Id of the rule, as docs/security-rules.md lists it.' }),
    severity: severitySchema,
    confidence: shareSchema,
    where: z.string().min(1).meta({ description: 'Task id, or task id and ".undo".', example: 't1.undo' }),
    why: z.string().min(1).meta({ description: 'What the command would do, in one sentence.' }),
  })
  .meta({ id: 'Finding' });
export type Finding = z.infer<typeof findingSchema>;
