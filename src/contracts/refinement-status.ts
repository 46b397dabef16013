import { z } from 'zod';
import { refinementStateNames } from '../domain/refinement/state-names.js';
import { issueSchema } from './debate-status.js';
import { loopControlSchema, refinementOutputSchema } from './refinement.js';
import { criterionSchema } from './rubric.js';
import { mayHelpSchema, spendSchema, waitingSchema, shareSchema, timeUsedField } from './work.js';
import { statusEnd, statusHead } from './work-status.js';

export const refinementStateSchema = z.enum(refinementStateNames);
export type RefinementStateName = z.infer<typeof refinementStateSchema>;

export const refinementReasons = [
  'threshold_met',
  'max_iterations',
  'no_improvement',
  'timeout',
  'critic_failed',
  'generator_failed',
  'budget',
] as const;
export const refinementReasonSchema = z.enum(refinementReasons);
export type RefinementReason = z.infer<typeof refinementReasonSchema>;

const milliseconds = z.number().int().min(0);

/** What a critic said of one version. */
export const critiqueSchema = z
  .strictObject({
    score: shareSchema,
    scores: z
      .record(z.string(), shareSchema)
      .nullable()
      .meta({ description: 'By criterion; null: the critic gave one score alone.' }),
    feedback: z.string(),
    issues: z.array(issueSchema),
    improvement: z.number().nullable().meta({ description: 'Over the version before; null: it is the first.' }),
    scoring_ms: milliseconds.meta({ description: 'From the question to the score, a second try included.' }),
    slow: z.boolean().meta({ description: 'Whether the scoring took longer than 30 s.' }),
    calls: z.number().int().min(1).meta({ description: '2: the first answer held no valid score.' }),
  })
  .meta({ id: 'Critique' });
export type CritiqueBody = z.infer<typeof critiqueSchema>;

/** One iteration: what was made, and what was said of it. */
export const refinementVersionSchema = z
  .strictObject({
    version: z.number().int().min(1),
    output: z.json(),
    generating_ms: milliseconds,
    critique: critiqueSchema.nullable().meta({ description: 'null: it has not been scored.' }),
    usage: spendSchema,
    at: z.iso.datetime(),
  })
  .meta({ id: 'RefinementVersion' });
export type RefinementVersion = z.infer<typeof refinementVersionSchema>;

export const scoredOutputSchema = z
  .strictObject({ version: z.number().int().min(1), score: shareSchema, output: z.json() })
  .meta({ id: 'ScoredOutput' });

export const refinementResultSchema = z
  .strictObject({
    status: z.enum(['COMPLETE', 'ABORTED']),
    reason: refinementReasonSchema,
    why: z.string().meta({ description: 'The reason in a sentence.' }),
    iterations: z.number().int().min(1).meta({ description: 'How many were begun.' }),
    version: z.number().int().min(1).meta({ description: 'Of the output, from 1.' }),
    score: shareSchema.meta({ description: 'Of the output.' }),
    scores: z.array(shareSchema).meta({ description: 'Of every version that was scored, in order.' }),
    output: z.json(),
    history: z.array(refinementVersionSchema).meta({ description: 'Empty where keep_history is false.' }),
  })
  .meta({ id: 'RefinementResult' });
export type RefinementResult = z.infer<typeof refinementResultSchema>;

export const refinementErrorSchema = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    retryable: mayHelpSchema.optional(),
  })
  .meta({ id: 'RefinementError' });

export const refinementAgentSchema = z
  .strictObject({
    role: z.enum(['generator', 'critic']),
    agent_id: z.string(),
    adapter: z.string(),
    temperature: z.number(),
    calls: z.number().int().min(0),
    usage: spendSchema,
  })
  .meta({ id: 'RefinementAgent' });

/** GET /v1/refinements/{id} (spec 10). */
export const refinementStatusSchema = z
  .strictObject({
    ...statusHead('refinement', refinementStateSchema),
    task: z.string(),
    agents: z.array(refinementAgentSchema),
    rubric: z.array(criterionSchema).meta({ description: 'With weights that sum to 1.' }),
    loop_control: loopControlSchema,
    output: refinementOutputSchema,
    iteration: z.number().int().min(0).meta({ description: 'From 1; 0: none has begun.' }),
    scores: z.array(shareSchema),
    best: scoredOutputSchema.nullable().meta({
      description: 'What would be given back now, and stays when it is cancelled; null: no version has been scored.',
    }),
    history: z.array(refinementVersionSchema).meta({ description: 'Empty where keep_history is false.' }),
    waiting: waitingSchema.nullable(),
    result: refinementResultSchema.nullable(),
    error: refinementErrorSchema.nullable(),
    spend: spendSchema,
    time: timeUsedField,
    ...statusEnd,
  })
  .meta({ id: 'RefinementStatus' });
export type RefinementStatus = z.infer<typeof refinementStatusSchema>;
