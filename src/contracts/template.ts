import { z } from 'zod';
import { jsonSchemaSchema } from './json-schema.js';
import { criterionSchema } from './rubric.js';

const words = (most: number) => z.array(z.string().min(1).max(200)).max(most);

export const cognitiveModes = ['divergent', 'convergent', 'mixed'] as const;

/** What an agent is like, on any agent or persona (spec 10 "Agent template"); every group and every member may be left out. */
export const templateSchema = z
  .strictObject({
    identity: z
      .strictObject({
        role: z.string().min(1).max(200).optional(),
        expertise: words(50).optional(),
        cognitive_mode: z.enum(cognitiveModes).optional(),
        model: z.string().min(1).max(200).optional(),
      })
      .optional(),
    persona: z
      .strictObject({
        tone: z.string().min(1).max(200).optional(),
        style: z.string().min(1).max(200).optional(),
        formality: z.string().min(1).max(200).optional(),
      })
      .optional(),
    capabilities: z
      .strictObject({
        allowed_tools: words(200).optional().meta({ description: 'Refused where agents are given no tools.' }),
        forbidden_actions: words(200).optional().meta({
          description:
            'Told to the agent in its instructions. Nothing enforces it where agents call no tools through Parley: what a program may do there is set by its sandbox.',
        }),
      })
      .optional(),
    state: z
      .strictObject({
        output_key: z.string().min(1).max(64).optional(),
        schema: jsonSchemaSchema.optional().meta({ description: "A JSON Schema that the agent's answer has to fit." }),
      })
      .optional(),
    parallel: z
      .strictObject({
        supports_isolation: z.boolean().optional(),
        output_namespace: z.string().min(1).max(200).optional(),
        aggregation_role: z.enum(['none', 'producer', 'aggregator']).optional(),
      })
      .optional(),
    quality_loop: z
      .strictObject({
        role: z.enum(['generator', 'critic', 'none']).optional(),
        scoring_rubric: z.array(criterionSchema).min(1).max(50).optional(),
        accepts_feedback: z.boolean().optional().meta({ description: 'false: it is sent no critique.' }),
      })
      .optional(),
    checkpoint: z
      .strictObject({
        triggers: z.array(z.enum(['on_complete', 'on_error'])).optional(),
        include_artifacts: z.boolean().optional(),
        max_size_kb: z.number().int().min(1).max(1_000_000).optional(),
      })
      .optional(),
  })
  .meta({ id: 'AgentTemplate' });
export type AgentTemplate = z.infer<typeof templateSchema>;
