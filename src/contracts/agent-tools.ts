import { z } from 'zod';
import { agentIdSchema, contextCategories, modelOverridesSchema } from './team.js';

const textSchema = z.string().max(200_000);
const wordSchema = z.string().trim().min(1, 'must not be blank').max(200);
/** Any text: whom a team does not know is told so where it is asked for. */
const namedSchema = z.string().trim().min(1, 'must not be blank').max(200);
const tokensSchema = z.number().int().min(1).max(100_000_000);
const secondsSchema = z
  .number()
  .min(0)
  .max(31_536_000)
  .meta({ description: 'Seconds, not milliseconds. When it is up nothing is stopped.' });
const metadataSchema = z.record(z.string(), z.json());
const categorySchema = z.string().trim().toLowerCase().pipe(z.enum(contextCategories));

const sendMessage = z
  .strictObject({
    content: textSchema,
    target: namedSchema.optional().meta({ description: 'An agent. Without target and targets it goes to the human.' }),
    targets: z.array(namedSchema).min(1).max(1_000).optional(),
    channel: wordSchema.optional(),
    metadata: metadataSchema.optional(),
  })
  .refine(({ target, targets }) => target === undefined || targets === undefined, {
    path: ['targets'],
    message: 'contradicts target; give one of them',
  });

const spawnSubAgent = z
  .strictObject({
    id: agentIdSchema,
    parent: namedSchema.optional().meta({ description: 'Left out: you.' }),
    role: wordSchema.optional(),
    persona: textSchema.optional().meta({ description: 'Who it is.' }),
    system_prompt: textSchema.optional().meta({ description: 'What it is told before anything is asked.' }),
    share_session: z
      .boolean()
      .optional()
      .meta({ description: "Has its parent's messages for its own, and so its window; else its own." }),
    share_context_window: z
      .boolean()
      .optional()
      .meta({ description: "Counts against its parent's token limit; later messages come by sync_context." }),
    share_session_with: namedSchema.optional(),
    share_context_window_with: namedSchema.optional(),
    shared_context_window_max_tokens: tokensSchema.optional().meta({ description: 'Limit of its own window.' }),
    shared_cw_max_tokens: tokensSchema
      .optional()
      .meta({ description: 'The same as shared_context_window_max_tokens.' }),
    model_overrides: modelOverridesSchema.optional(),
    default_tools: z.array(wordSchema).max(200).optional(),
    initial_prompt: textSchema.optional().meta({ description: 'Left out: it waits to be delegated to.' }),
    background: z.boolean().optional().meta({
      description: 'Left out: true where there is an initial_prompt and background agents are not switched off.',
    }),
  })
  .refine(
    ({ shared_context_window_max_tokens: long, shared_cw_max_tokens: short }) =>
      long === undefined || short === undefined || long === short,
    { path: ['shared_cw_max_tokens'], message: 'must equal shared_context_window_max_tokens, or be left out' },
  );

const one = z.strictObject({ id: namedSchema });

const delegate = z.strictObject({
  child: namedSchema,
  content: textSchema.meta({ description: 'May be empty, not null.' }),
  parent: namedSchema.optional().meta({ description: 'Left out: you.' }),
  channel: wordSchema.optional(),
  metadata: metadataSchema.optional(),
  background: z.boolean().default(false),
  wait: z.boolean().default(false).meta({ description: 'Of work in the background; other work is always waited for.' }),
  timeout: secondsSchema.optional(),
});

/** Rounds that an exploration may have at most (spec 05). */
export const maxExploreRounds = 100;

/** Arguments of the ten tools by which agents concern each other (spec 10 "Team", details 3.2), under the source's names. */
export const agentToolSchemas = {
  send_message: sendMessage,
  spawn_sub_agent: spawnSubAgent,
  stop_sub_agent: one,
  resume_sub_agent: one,
  get_agent_status: z.strictObject({
    id: namedSchema.optional().meta({ description: 'Left out: all agents, with stats.' }),
    include_result: z.boolean().default(false),
  }),
  wait_for_agents: z.strictObject({
    ids: z.array(namedSchema).max(1_000).optional().meta({ description: 'Left out or empty: all.' }),
    timeout: secondsSchema.optional(),
  }),
  get_context_info: z.strictObject({
    id: namedSchema.optional().meta({ description: 'Left out: you.' }),
    include_stats: z.boolean().default(false),
  }),
  sync_context: z.strictObject({
    parent: namedSchema,
    child: namedSchema,
    categories: z
      .array(categorySchema)
      .min(1)
      .default(['system', 'context'])
      .meta({ description: `Of ${contextCategories.join(', ')}.` }),
    replace: z.boolean().default(false).meta({ description: 'false: what is copied twice is there twice.' }),
  }),
  delegate,
  delegate_explore_task: z.strictObject({
    task: z.string().trim().min(1, 'must not be blank').max(200_000),
    directory: z.string().min(1).max(4_096).optional(),
    max_iterations: z.number().int().min(1).max(maxExploreRounds).default(maxExploreRounds),
  }),
} as const;

export type AgentToolName = keyof typeof agentToolSchemas;
export type AgentToolArguments = { [Tool in AgentToolName]: z.infer<(typeof agentToolSchemas)[Tool]> };
/** A call that its schema has taken, however the model wrote it. */
export type AgentCommand = { [Tool in AgentToolName]: { tool: Tool; given: AgentToolArguments[Tool] } }[AgentToolName];

/** What a tool answers its agent where it did not do what was asked. */
export const toolErrorSchema = z.strictObject({
  status: z.literal('error'),
  code: z.string(),
  message: z.string(),
});
export type ToolError = z.infer<typeof toolErrorSchema>;
