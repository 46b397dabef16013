import { z } from 'zod';
import { overridesOf } from '../domain/team/overrides.js';
import { agentBodyFaults, teamFaults } from '../domain/team/request-faults.js';
import { adapterSchema } from './adapter.js';
import { sandboxOptionsSchema } from './execution.js';
import { approvalPolicySchema } from './feedback.js';
import { templateSchema } from './template.js';
import { maxSecondsSchema, startCommon, startedSchema, timedBudgetSchema, workerPathSchema } from './work.js';

/** Agents that one team may have at a time, ended ones that nobody has cleaned up included. */
export const maxTeamAgents = 1_000;

export const agentIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 letters, digits, ".", "_" or "-", and start with a letter or digit',
  )
  .meta({ description: 'Id of an agent, of its own in its team.', example: 'worker-1' });
export const wordSchema = z.string().trim().min(1, 'must not be blank').max(200);
export const textSchema = z.string().max(100_000);
/** A year: longer is a slip. */
const longestMs = 31_536_000_000;

const tokenLimitSchema = z.number().int().min(1).max(100_000_000);

/** How an agent stands to the context of others (details 3.3): isolated unless it says otherwise. */
const sharing = {
  share_session: z.boolean().default(false).meta({
    description: "Has its parent's messages for its own, and so its parent's window, too.",
  }),
  share_context_window: z.boolean().default(false).meta({
    description:
      "Counts against its parent's token limit. Messages are shared by share_session alone: without it later ones of the parent come by a sync.",
  }),
  share_session_with: agentIdSchema.optional().meta({ description: 'Another agent than the parent.' }),
  share_context_window_with: agentIdSchema.optional().meta({ description: 'Another agent than the parent.' }),
  shared_context_window_max_tokens: tokenLimitSchema
    .optional()
    .meta({ description: "Limit of a window of its own; clamped to that of its parent's." }),
};

const patternSchema = z.string().min(1).max(1_000);

/** Which calls of tools a person is asked about first (spec 05). */
export const approvalRuleSchema = z
  .strictObject({
    tool: z.string().trim().min(1, 'must not be blank').max(200).meta({
      description: 'Name of a tool; "*" stands for any part of one.',
      example: 'run_command',
    }),
    when: z
      .union([
        z.enum(['always', 'never']),
        z.strictObject({
          argument: z.string().min(1).max(200).meta({
            description:
              'Of the call, by its path, such as `to.0.address`. A list is looked at as one line, and by each of its parts.',
          }),
          matches: z.union([patternSchema, z.array(patternSchema).min(1).max(100)]).meta({
            description:
              'The whole argument: "*" stands for any characters, "?" for one. Of several patterns one is enough.',
          }),
        }),
      ])
      .meta({ description: 'always: a person is asked each time; never: nobody is; else: where the argument is so.' }),
  })
  .meta({ id: 'ApprovalRule' });
export type ApprovalRule = z.infer<typeof approvalRuleSchema>;

/** What of the model that answers an agent changes; a setting that nobody keeps to is refused. */
export const modelOverridesSchema = z
  .record(z.string(), z.json())
  .superRefine((overrides, context) => {
    const read = overridesOf(overrides);
    if (!('faults' in read)) return;
    for (const { path, message } of read.faults) context.addIssue({ code: 'custom', path, message });
  })
  .meta({ description: 'temperature (0 to 2), max_tokens, model. They mean something to hosted models alone.' });

const stepShareSchema = z.number().min(0.01).max(1);

/** Limits, and what happens as they come near (spec 08 "Budget ledger … steps: warn, cheaper model, ask a person, stop"). */
export const teamBudgetSchema = z
  .strictObject({
    ...timedBudgetSchema.shape,
    max_seconds: maxSecondsSchema.optional().meta({
      description:
        'Seconds in which an agent is at work, up to a year: it runs while any of them is, or waits for anything but a person. A call of a model or of a tool that is under way at its end is ended.',
    }),
    warn_at: stepShareSchema.default(0.8).meta({
      description: 'Part of a limit from which the event `budget` tells that it is nearly used up, in whole percent.',
    }),
    cheaper_at: stepShareSchema.optional().meta({
      description: 'Part of a limit from which agents are asked with `cheaper_model`, in whole percent.',
    }),
    cheaper_model: z.string().trim().min(1, 'must not be blank').max(200).optional().meta({
      description:
        'A model that the adapters of the agents know, and that has a price. Of an agent: its own in place of that of the team. Agents without a hosted model keep who answers for them.',
    }),
    when_used_up: z.enum(['stop', 'ask']).default('stop').meta({
      description:
        'stop: calls of models are refused; ask: before a call that does not fit a person is asked for more, and who needs it waits.',
    }),
  })
  .superRefine((budget, context) => {
    const { cheaper_at: at, cheaper_model: model, max_tokens: tokens, max_usd: usd, max_seconds: seconds } = budget;
    const fault = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (at !== undefined && model === undefined) fault('cheaper_model', 'is missing: say which model is cheaper');
    if (tokens !== undefined || usd !== undefined) return;
    if (at !== undefined) fault('cheaper_at', 'has no effect without max_tokens or max_usd: no model saves time');
    if (budget.when_used_up === 'ask' && seconds === undefined)
      fault('when_used_up', 'has no effect without max_tokens, max_usd or max_seconds');
  })
  .meta({ id: 'TeamBudget' });
export type TeamBudgetBody = z.infer<typeof teamBudgetSchema>;

/** One agent, in the body that starts a team and in one that adds to it (spec 10 "Team"). */
export const teamAgentSchema = z
  .strictObject({
    agent_id: agentIdSchema,
    role: wordSchema.default('agent').meta({ description: 'By which who asks a role finds it.' }),
    adapter: adapterSchema
      .optional()
      .meta({ description: 'Who answers for it; left out: who answers for its parent.' }),
    instructions: textSchema.optional().meta({ description: 'What it is told before anything is asked.' }),
    context: z.array(textSchema.min(1)).max(100).optional().meta({
      description:
        'What it is given to know, each text a message of the category context. Agents that are spawned below it begin with copies; a sync copies it to others.',
    }),
    template: templateSchema.optional(),
    tools: z.array(wordSchema).max(200).optional().meta({
      description: 'That it may call. Left out: those by which agents concern each other; an empty list: none.',
    }),
    approvals: z.array(approvalRuleSchema).max(200).optional().meta({
      description:
        'Calls that a person is asked about before they are carried out; the first rule that applies decides. Left out: none is. An agent that it spawns has the same.',
    }),
    prompt: textSchema.optional().meta({
      description: 'What it is asked first. Left out: it has nothing to do until somebody asks it.',
    }),
    parent: agentIdSchema.optional(),
    background: z.boolean().optional().meta({
      description:
        'Whether stop_sub_agent cancels what it does; false: it pauses it. Left out: true, or false where PARLEY_USE_BACKGROUND_AGENTS is false, which refuses true.',
    }),
    max_rounds: z.number().int().min(1).max(10_000).default(100).meta({
      description: 'Calls of its model for one question; then the question has failed.',
    }),
    model_overrides: modelOverridesSchema.default({}),
    metadata: z.record(z.string().min(1).max(64), z.json()).default({}),
    budget: teamBudgetSchema
      .optional()
      .meta({ description: 'Of the agent and those that it spawns together, within that of the team.' }),
    ...sharing,
  })
  .meta({ id: 'TeamAgent' });
export type TeamAgentBody = z.infer<typeof teamAgentSchema>;

export const liteAgentSchema = z
  .strictObject({
    agent_id: agentIdSchema.optional().meta({ description: 'Left out: lite-<role>-<n>.' }),
    role: wordSchema,
    adapter: adapterSchema,
  })
  .meta({
    id: 'LiteAgent',
    description: 'Answers for a role that no agent has: without a window, a history and a slot.',
  });
export type LiteAgentBody = z.infer<typeof liteAgentSchema>;

/** A folder in which all agents of a team work, in place of one for each. */
export const teamWorkspaceSchema = z
  .strictObject({
    path: workerPathSchema.meta({ description: 'The folder, on the worker; PARLEY_WORKSPACES says where it may lie.' }),
    read_only: z.boolean().default(false).meta({
      description: 'true: agents list, read and search in it; nobody writes files or runs commands there.',
    }),
  })
  .meta({ id: 'TeamWorkspace' });

const maxConcurrentSchema = z.number().int().min(1).max(1_000);

/** POST /v1/teams (spec 05, 10). What contradicts itself is refused here, all at once (spec 00). */
export const openTeamSchema = z
  .strictObject({
    ...startCommon,
    budget: teamBudgetSchema.prefault({}).meta({ description: 'Over the whole team.' }),
    agents: z.array(teamAgentSchema).max(maxTeamAgents).default([]),
    lite_agents: z.array(liteAgentSchema).max(200).default([]),
    max_concurrent: maxConcurrentSchema
      .optional()
      .meta({ description: 'Agents at once; the rest wait in order. Left out: PARLEY_MAX_CONCURRENT_TASKS.' }),
    subagents_enabled: z
      .boolean()
      .default(true)
      .meta({ description: 'false: tools that concern other agents answer subagents_disabled.' }),
    keep_open: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether the team outlives its agents, until it is closed.' }),
    workspace: teamWorkspaceSchema.optional().meta({
      description: 'What tools for files and commands work in. Left out: each agent has a folder of its own.',
    }),
    approval: approvalPolicySchema.omit({ required: true }).prefault({}).meta({
      description: 'Who has to approve calls that `approvals` of an agent ask people about, and by when.',
    }),
    sandbox: sandboxOptionsSchema.optional().meta({ description: 'Of the commands of agents.' }),
  })
  .superRefine((request, context) => {
    for (const { path, message } of teamFaults(request)) context.addIssue({ code: 'custom', path, message });
    const { cheaper_model: model, cheaper_at: at } = request.budget;
    if (model === undefined || at !== undefined) return;
    const message = 'is missing: say from which part of a limit on cheaper_model is asked';
    context.addIssue({ code: 'custom', path: ['budget', 'cheaper_at'], message });
  })
  .meta({ id: 'OpenTeam' });
export type OpenTeam = z.infer<typeof openTeamSchema>;
export type OpenTeamBody = z.input<typeof openTeamSchema>;

export const teamStartedSchema = startedSchema.extend({ kind: z.literal('team') }).meta({ id: 'TeamStarted' });
export type TeamStarted = z.infer<typeof teamStartedSchema>;

const spawnedAgentSchema = teamAgentSchema.superRefine((agent, context) => {
  for (const { path, message } of agentBodyFaults(agent)) context.addIssue({ code: 'custom', path, message });
});

/** POST /v1/teams/{id}/agents: one agent, or a list of them, of which those before a refused one stay (details 3.1). */
export const spawnAgentsSchema = z
  .union([spawnedAgentSchema, z.array(spawnedAgentSchema).min(1, 'must hold an agent').max(maxTeamAgents)])
  .meta({ id: 'SpawnAgents' });
export type SpawnAgents = z.infer<typeof spawnAgentsSchema>;

/** POST /v1/teams/{id}/wait. A wait observes: no agent is stopped where it ends first. */
export const waitAgentsSchema = z
  .strictObject({
    agent_ids: z.array(z.string().min(1).max(200)).max(maxTeamAgents).default([]).meta({
      description: 'Left out or empty: all agents that there are now. Unknown ones are left out of the answer.',
    }),
    timeout_ms: z.number().int().min(0).max(longestMs).optional().meta({ description: 'Left out: it waits for ever.' }),
  })
  .meta({ id: 'WaitAgents' });
export type WaitAgents = z.infer<typeof waitAgentsSchema>;

/** POST /v1/teams/{id}/messages, of a person. */
export const teamMessageSchema = z
  .strictObject({
    content: textSchema,
    target: agentIdSchema.optional(),
    targets: z.array(agentIdSchema).min(1).max(maxTeamAgents).optional(),
    channel: wordSchema.optional(),
    metadata: z.record(z.string(), z.json()).default({}),
    category: z.enum(['dialog', 'context']).default('dialog').meta({
      description:
        'dialog: it is read and answered. context: agents are given it to know, whatever they do now; nobody is asked for it.',
    }),
  })
  .refine(({ target, targets }) => (target === undefined) !== (targets === undefined), {
    path: ['target'],
    message: 'must be given, or targets, and not both',
  })
  .meta({ id: 'TeamMessage' });
export type TeamMessageBody = z.infer<typeof teamMessageSchema>;

/** POST /v1/teams/{id}/delegate. */
export const delegateSchema = z
  .strictObject({
    parent: agentIdSchema,
    child: agentIdSchema,
    content: textSchema.meta({ description: 'May be empty.' }),
    background: z.boolean().default(false),
    wait: z.boolean().default(false).meta({ description: 'Of a delegation in the background; another always waits.' }),
    timeout_ms: z.number().int().min(0).max(longestMs).optional(),
  })
  .meta({ id: 'DelegateAgent' });
export type DelegateBody = z.infer<typeof delegateSchema>;

export const contextCategories = ['system', 'context', 'dialog', 'tool'] as const;
export const contextCategorySchema = z.enum(contextCategories).meta({
  description:
    'system: instructions; context: what an agent was given to know; dialog: what was said; tool: calls with their results.',
});
export type ContextCategory = z.infer<typeof contextCategorySchema>;

/** POST /v1/teams/{id}/sync-context. */
export const syncContextSchema = z
  .strictObject({
    parent: agentIdSchema,
    child: agentIdSchema,
    categories: z.array(contextCategorySchema).min(1).default(['system', 'context']),
    replace: z.boolean().default(false).meta({
      description: 'true: the child loses what it has of these categories; false: what is copied twice is there twice.',
    }),
  })
  .meta({ id: 'SyncContext' });
export type SyncContextBody = z.infer<typeof syncContextSchema>;
