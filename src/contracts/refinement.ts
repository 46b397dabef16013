import { z } from 'zod';
import { rubricFaults } from '../domain/refinement/rubric.js';
import { loopFaults, modelFaults, unservedFaults } from '../domain/template.js';
import { adapterSchema } from './adapter.js';
import { criterionSchema } from './rubric.js';
import { templateSchema } from './template.js';
import { startCommon, startedSchema, timedBudgetSchema } from './work.js';

export const refinementRoles = ['generator', 'critic'] as const;
export type RefinementRole = (typeof refinementRoles)[number];

const agentId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"');

const agent = (role: RefinementRole, temperature: number) => ({
  agent_id: agentId.default(role),
  adapter: adapterSchema,
  instructions: z
    .string()
    .trim()
    .min(1)
    .max(100_000)
    .optional()
    .meta({ description: 'In place of the built-in instructions.' }),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .default(temperature)
    .meta({ description: 'For a model whose adapter names none; a temperature in the adapter goes before it.' }),
  template: templateSchema.optional(),
});

export const loopControlSchema = z
  .strictObject({
    max_iterations: z.number().int().min(1).max(5).default(3),
    quality_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.8)
      .meta({ description: 'Score from which a version is good enough; 0 takes the first.' }),
    improvement_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.05)
      .meta({ description: 'Least gain over the previous version that is worth another; exactly as much goes on.' }),
    iteration_timeout_ms: z.number().int().min(1).max(86_400_000).default(600_000),
  })
  .meta({ id: 'LoopControl' });
export type LoopControl = z.infer<typeof loopControlSchema>;

export const refinementOutputSchema = z
  .strictObject({
    keep_history: z
      .boolean()
      .default(true)
      .meta({ description: 'Every version, critique and score in status and result; false: the scores alone.' }),
    output_best: z
      .boolean()
      .default(true)
      .meta({ description: 'The version of the highest score, of equals the earlier; false: the last one.' }),
  })
  .meta({ id: 'RefinementOutput' });
export type RefinementOutput = z.infer<typeof refinementOutputSchema>;

/** POST /v1/refinements (spec 04, 10). Contradictions are refused here, all at once (spec 00). */
export const openRefinementSchema = z
  .strictObject({
    ...startCommon,
    budget: timedBudgetSchema.default({}),
    task: z.string().trim().min(1, 'must say what is to be made').max(100_000),
    generator: z.strictObject(agent('generator', 0.7)).meta({ id: 'Generator' }),
    critic: z
      .strictObject({
        ...agent('critic', 0.3),
        scoring: z
          .strictObject({
            rubric: z
              .array(criterionSchema)
              .min(1, 'must have at least one criterion; leave rubric out for the default one')
              .max(50)
              .optional(),
          })
          .prefault({}),
      })
      .meta({ id: 'Critic' }),
    loop_control: loopControlSchema.prefault({}),
    output: refinementOutputSchema.prefault({}),
  })
  .superRefine((request, context) => {
    const fault = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    for (const role of refinementRoles) {
      const { adapter, template } = request[role];
      if (adapter.kind === 'external') {
        fault([role, 'adapter', 'kind'], `cannot be external: a ${role} has to answer a call`);
      }
      if (!template) continue;
      const faults = [
        ...loopFaults(template, role),
        ...modelFaults(template, adapter),
        ...unservedFaults(template, 'refinement', request[role].agent_id),
      ];
      for (const { path, message } of faults) fault([role, 'template', ...path], message);
    }
    const { scoring, template } = request.critic;
    for (const { path, message } of rubricFaults(scoring.rubric ?? [])) {
      fault(['critic', 'scoring', 'rubric', ...path], message);
    }
    for (const { path, message } of rubricFaults(template?.quality_loop?.scoring_rubric ?? [])) {
      fault(['critic', 'template', 'quality_loop', 'scoring_rubric', ...path], message);
    }
  })
  .meta({ id: 'OpenRefinement' });
export type OpenRefinement = z.infer<typeof openRefinementSchema>;
export type OpenRefinementBody = z.input<typeof openRefinementSchema>;

export const refinementStartedSchema = startedSchema
  .extend({ kind: z.literal('refinement') })
  .meta({ id: 'RefinementStarted' });
export type RefinementStarted = z.infer<typeof refinementStartedSchema>;
