import { z } from 'zod';
import { requestFaults } from '../domain/fan-out/request-faults.js';
import { adapterSchema } from './adapter.js';
import { insidePathSchema } from './plan.js';
import { criterionSchema } from './rubric.js';
import { agreementSchema } from './session.js';
import { templateSchema } from './template.js';
import { startCommon, startedSchema, shareSchema, timedBudgetSchema } from './work.js';

export const maxFanOutTasks = 5_000;

const nameSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_" or "-", and start with a letter or digit',
  );
const wordSchema = z.string().min(1).max(200);
export const fanOutAgentSchema = z
  .strictObject({
    agent_id: nameSchema,
    capabilities: z.array(wordSchema).max(200).default([]),
    adapter: adapterSchema.optional().meta({ description: 'Who answers for it, unless a task brings its own.' }),
    template: templateSchema.optional(),
  })
  .meta({ id: 'FanOutAgent' });
export type FanOutAgent = z.infer<typeof fanOutAgentSchema>;

/** A file that a worker is given as a read-only copy. */
export const inputArtifactSchema = z
  .union([insidePathSchema, z.strictObject({ path: insidePathSchema, content: z.string().max(1_000_000) })])
  .meta({
    id: 'InputArtifact',
    description: "A file below one of the worker's PARLEY_WORKSPACES by its relative path, or a path with its content.",
  });
export type InputArtifact = z.infer<typeof inputArtifactSchema>;

export const fanOutTaskSchema = z
  .strictObject({
    task_id: nameSchema,
    prompt: z.string().min(1).max(100_000).optional().meta({ description: 'Else the id of the task.' }),
    agent: nameSchema.optional().meta({ description: 'Who takes it where its topic has no route.' }),
    topic: wordSchema.optional(),
    domain: wordSchema.optional().meta({ description: 'What affinity goes by; else the topic.' }),
    priority: z.number().int().min(-1_000_000).max(1_000_000).default(0).meta({ description: 'Higher first.' }),
    requires: z.array(wordSchema).max(200).default([]).meta({ description: 'Capabilities that an agent must have.' }),
    input_artifacts: z.array(inputArtifactSchema).max(1_000),
    adapter: adapterSchema.optional().meta({ description: "In place of its agent's." }),
  })
  .meta({ id: 'FanOutTask' });
export type FanOutTask = z.infer<typeof fanOutTaskSchema>;

export const fanOutStrategies = ['topic_based', 'round_robin', 'capability_match'] as const;
export type FanOutStrategy = (typeof fanOutStrategies)[number];

export const queueOverflows = ['wait', 'reject', 'priority_evict'] as const;
export type QueueOverflow = (typeof queueOverflows)[number];

const topicRouteSchema = z
  .strictObject({
    agents: z.array(nameSchema).min(1, 'must name at least one agent').max(1_000),
    affinity: z.enum(['domain', 'none']).default('none'),
  })
  .meta({ id: 'TopicRoute', description: 'affinity domain: one domain, one agent; none: the load is balanced.' });
export type TopicRoute = z.infer<typeof topicRouteSchema>;

export const fanOutPolicySchema = z
  .strictObject({
    strategy: z.enum(fanOutStrategies),
    max_concurrent: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(5)
      .meta({ description: 'Workers at once, 1 to 5; an operator may raise the ceiling by PARLEY_MAX_FAN_OUT.' }),
    queue_overflow: z.enum(queueOverflows).default('wait'),
    queue_limit: z.number().int().min(0).optional().meta({ description: 'Tasks that may wait; left out: any number.' }),
    topic_routing: z.record(wordSchema, topicRouteSchema).default({}),
    tasks: z.array(fanOutTaskSchema).max(maxFanOutTasks),
  })
  .meta({ id: 'FanOutPolicy' });
export type FanOutPolicy = z.infer<typeof fanOutPolicySchema>;

export const barrierPolicySchema = z
  .strictObject({
    timeout_ms: z.number().int().min(1).max(86_400_000).default(300_000),
    partial_mode: z.boolean().default(true).meta({ description: 'Whether to go on without the results of some.' }),
    min_completion_ratio: shareSchema
      .default(0.5)
      .meta({ description: 'Completed of all tasks; reached exactly passes.' }),
  })
  .meta({ id: 'BarrierPolicy' });
export type BarrierPolicy = z.infer<typeof barrierPolicySchema>;

export const aggregationStrategies = ['merge', 'select_best', 'consensus', 'custom'] as const;
export type AggregationStrategy = (typeof aggregationStrategies)[number];
export const conflictResolutions = ['first_wins', 'last_wins', 'orchestrator_decides'] as const;
export type ConflictResolution = (typeof conflictResolutions)[number];

export const qualityPolicySchema = z
  .strictObject({
    critic: z.strictObject({
      agent_id: nameSchema.default('critic'),
      adapter: adapterSchema,
      scoring: z.array(criterionSchema).min(1).max(50).optional().meta({ description: 'Else the default rubric.' }),
    }),
    threshold: shareSchema.default(0.8),
  })
  .meta({ id: 'FanInQuality', description: 'Scores the combined result; below the threshold it is flagged.' });
export type QualityPolicy = z.infer<typeof qualityPolicySchema>;

export const fanInPolicySchema = z
  .strictObject({
    aggregation_strategy: z.enum(aggregationStrategies),
    conflict_resolution: z
      .enum(conflictResolutions)
      .optional()
      .meta({ description: 'Of merge; else first_wins, or, where an agent is an aggregator, orchestrator_decides.' }),
    adapter: adapterSchema
      .optional()
      .meta({ description: 'The orchestrator that decides conflicts, unless an agent is an aggregator.' }),
    agreement: agreementSchema.optional().meta({ description: 'Of consensus: how answers are compared.' }),
    function: z
      .string()
      .regex(/^[A-Za-z_$][\w$]{0,63}$/, 'must be the name of an exported function')
      .optional()
      .meta({ description: 'Of custom: a function that the operator has put into PARLEY_FUNCTIONS.' }),
    quality: qualityPolicySchema.optional(),
  })
  .meta({ id: 'FanInPolicy' });
export type FanInPolicy = z.infer<typeof fanInPolicySchema>;

/** POST /v1/fan-outs (spec 03, 10). Contradictions, and tasks that no agent can take, are refused here, all at once. */
export const openFanOutSchema = z
  .strictObject({
    ...startCommon,
    budget: timedBudgetSchema.default({}),
    workflow_id: z.uuid('must be a UUID').optional().meta({ description: 'The id of the fan-out, where given.' }),
    agents: z.array(fanOutAgentSchema).max(1_000).default([]),
    fan_out: fanOutPolicySchema,
    barrier: barrierPolicySchema,
    fan_in: fanInPolicySchema,
  })
  .superRefine((request, context) => {
    for (const { path, message } of requestFaults(request)) context.addIssue({ code: 'custom', path, message });
  })
  .meta({ id: 'OpenFanOut' });
export type OpenFanOut = z.infer<typeof openFanOutSchema>;
export type OpenFanOutBody = z.input<typeof openFanOutSchema>;

export const fanOutStartedSchema = startedSchema.extend({ kind: z.literal('fan-out') }).meta({ id: 'FanOutStarted' });
export type FanOutStarted = z.infer<typeof fanOutStartedSchema>;
