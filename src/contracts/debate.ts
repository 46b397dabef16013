import { z } from 'zod';
import { approvalFaults } from '../domain/approval.js';
import { approvalFields, approvalTerms } from '../domain/debate/approval-terms.js';
import { maxRefinements } from '../domain/debate/passes.js';
import { maxCheckCharacters, presetHealing } from '../domain/debate/health-check.js';
import { planFaults } from '../domain/debate/plan.js';
import { modelFaults, unservedOfSpeaker } from '../domain/template.js';
import { adapterSchema } from './adapter.js';
import { sandboxOptionsSchema } from './execution.js';
import { approvalPolicySchema } from './feedback.js';
import { healthCheckSchema, planSchema } from './plan.js';
import { templateSchema } from './template.js';
import { startCommon, startedSchema, shareSchema, timedBudgetSchema, workerPathSchema } from './work.js';

/** In the order in which they speak (spec 02 "Rounds"). */
export const roles = ['analyst', 'solution', 'critic', 'security', 'optimizer'] as const;
export const roleSchema = z.enum(roles);
export type Role = z.infer<typeof roleSchema>;

const lockSchema = z.string().min(1).max(256);
export const locksSchema = z
  .strictObject({
    project: z
      .union([lockSchema, z.array(lockSchema).min(1, 'must name at least one project').max(50)])
      .optional()
      .meta({ description: 'The cloud project, or a list of those that are allowed.' }),
    database: lockSchema.optional().meta({ description: 'Name of the memory database.' }),
    tenant: lockSchema.optional(),
  })
  .meta({
    id: 'Locks',
    description: "What the worker's environment has to say of itself; a lock left out is not checked.",
  });
export type Locks = z.infer<typeof locksSchema>;

export const debateRoleSchema = z
  .strictObject({
    adapter: adapterSchema,
    persona: z
      .strictObject({
        persona_id: z
          .string()
          .min(1)
          .max(64)
          .optional()
          .meta({ description: "Whose rating it is; else the role's name." }),
        instructions: z
          .string()
          .min(1)
          .max(100_000)
          .optional()
          .meta({ description: "In place of the role's built-in instructions." }),
        template: templateSchema.optional().meta({
          description:
            'What it is like: identity and persona stand before its instructions. What has no use here is refused.',
        }),
      })
      .optional(),
  })
  .meta({ id: 'DebateRole' });
export type DebateRole = z.infer<typeof debateRoleSchema>;

export const debateLimitsSchema = z
  .strictObject({
    refinements: z.number().int().min(0).max(maxRefinements).default(maxRefinements),
    max_repairs: z.number().int().min(0).max(10).default(2),
    proceed: shareSchema.default(0.6).meta({ description: 'Consensus from which the plan is executed.' }),
    refine_below: shareSchema.default(0.8).meta({ description: 'Consensus below which another pass is asked for.' }),
    veto: shareSchema.default(0.9).meta({ description: 'Confidence from which security against the plan blocks it.' }),
    top_k: z.number().int().min(0).max(100).default(5).meta({ description: 'Similar past traces that are looked at.' }),
    answer_timeout_ms: z.number().int().min(1).max(3_600_000).default(120_000),
  })
  .meta({ id: 'DebateLimits' });
export type DebateLimits = z.infer<typeof debateLimitsSchema>;

export const healingSchema = z
  .strictObject({
    check: healthCheckSchema.optional().meta({
      description:
        'Run in the sandbox after a task has failed, before anybody is asked for the cause. Exit code 0: nothing is healed, and the ' +
        'debate has succeeded; anything else, an error or its time over: it is healed. Left out: it is healed at once.',
    }),
    timeout_ms: z.number().int().min(1).max(3_600_000).default(presetHealing.healingMs).meta({
      description:
        'For the diagnosis and the repaired plan of one healing together; then what was done is rolled back.',
    }),
  })
  .meta({ id: 'Healing', description: 'How a failed execution is healed.' });
export type Healing = z.infer<typeof healingSchema>;

/** Tokens of a debate whose request names no limit (details 2.5). */
export const presetMaxTokens = 100_000;

/** POST /v1/debates (spec 10). Contradictions are refused here, all at once (spec 00). */
export const openDebateSchema = z
  .strictObject({
    ...startCommon,
    budget: timedBudgetSchema
      .extend({ max_tokens: z.number().int().min(0).default(presetMaxTokens) })
      .prefault({})
      .meta({ id: 'DebateBudget' }),
    task: z.string().trim().min(1, 'must say what is to be done').max(100_000),
    workspace: z
      .strictObject({
        path: workerPathSchema.meta({ description: 'The folder that tasks work in, on the worker.' }),
        locks: locksSchema.prefault({}),
      })
      .meta({ id: 'DebateWorkspace' }),
    roles: z.strictObject({
      analyst: debateRoleSchema,
      solution: debateRoleSchema,
      critic: debateRoleSchema,
      security: debateRoleSchema,
      optimizer: debateRoleSchema,
    }),
    limits: debateLimitsSchema.prefault({}),
    sandbox: sandboxOptionsSchema.prefault({}),
    healing: healingSchema.optional(),
    approval: approvalPolicySchema.prefault({}),
    plan: planSchema
      .nullable()
      .default(null)
      .meta({ description: 'A plan to start from; null: the solution role proposes the first.' }),
  })
  .superRefine(({ roles: given, limits, approval, plan, healing }, context) => {
    const fault = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    for (const role of roles) {
      const { adapter, persona } = given[role];
      if (adapter.kind === 'external') {
        fault(['roles', role, 'adapter', 'kind'], 'cannot be external: a role has to answer a call');
      }
      if (!persona?.template) continue;
      for (const { path, message } of [
        ...modelFaults(persona.template, adapter),
        ...unservedOfSpeaker('debate', persona.template),
      ])
        fault(['roles', role, 'persona', 'template', ...path], message);
    }
    if (limits.proceed > limits.refine_below + 1e-9) {
      fault(
        ['limits', 'proceed'],
        `must be at most limits.refine_below (${limits.refine_below}), or no pass could improve what is rejected; got ${limits.proceed}`,
      );
    }
    for (const { field, message } of approvalFaults(approvalTerms(approval, null, false))) {
      fault(['approval', approvalFields[field]], message);
    }
    const checkLength = JSON.stringify(healing?.check ?? null).length;
    if (checkLength > maxCheckCharacters) {
      const message = `must be at most ${maxCheckCharacters} characters of JSON; got ${checkLength}. Put long inputs into files of the workspace`;
      fault(['healing', 'check'], message);
    }
    if (plan?.tasks.length === 0) {
      fault(
        ['plan', 'tasks'],
        'must have at least one task; leave plan out, or null, to let the solution role propose one',
      );
    }
    for (const { path, message } of plan ? planFaults(plan) : []) fault(['plan', ...path], message);
  })
  .meta({ id: 'OpenDebate' });
export type OpenDebate = z.infer<typeof openDebateSchema>;
export type OpenDebateBody = z.input<typeof openDebateSchema>;

export const debateStartedSchema = startedSchema.extend({ kind: z.literal('debate') }).meta({ id: 'DebateStarted' });
export type DebateStarted = z.infer<typeof debateStartedSchema>;
