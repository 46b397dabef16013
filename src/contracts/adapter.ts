import { z } from 'zod';
import { controlStatusSchema, usageSchema, windowSchema } from './frames.js';
import { hasNoCredentials, noCredentials } from './url.js';

const afterMs = z.number().int().min(0).max(86_400_000).default(0);
const entryCommon = {
  after_ms: afterMs.meta({ description: 'Milliseconds after the previous entry.' }),
  msg_seq: z.number().int().min(1).optional(),
  frag_seq: z.number().int().min(0).optional(),
  last: z.boolean().optional(),
  checksum: z.string().optional(),
  usage: usageSchema.optional(),
  repeat: z.number().int().min(1).max(100_000).optional().meta({ description: 'Play this entry so many times.' }),
};

/** One entry of a scripted timeline (spec 10 "Adapters"): exactly one of the five things an adapter can say. */
export const scriptEntrySchema = z
  .strictObject({
    ...entryCommon,
    partial: z.string().optional(),
    final: z.json().optional().meta({
      description:
        'Text, or any JSON. Of an agent of a team, {"text","tool_calls":[{"name","arguments"}]} calls its tools.',
    }),
    fail: z
      .strictObject({
        code: z.string().min(1).max(64).default('EAGENTDOWN'),
        message: z.string().max(4000).default('scripted failure'),
        retryable: z.boolean().default(false),
      })
      .optional(),
    dispatch_err: z.union([z.string(), z.boolean(), z.strictObject({ message: z.string() })]).optional(),
    control: z.strictObject({ status: controlStatusSchema, window: windowSchema.optional() }).optional(),
  })
  .refine(
    (entry) =>
      [entry.partial, entry.final, entry.fail, entry.dispatch_err, entry.control].filter((said) => said !== undefined)
        .length === 1,
    { message: 'must have exactly one of partial, final, fail, dispatch_err, control' },
  )
  .meta({ id: 'ScriptEntry' });

/** What a script's `final` is where an agent of a team calls tools; `arguments` as text may be malformed, as a model's may. */
export const scriptedCallsSchema = z
  .strictObject({
    text: z.string().optional(),
    tool_calls: z
      .array(
        z.strictObject({
          id: z.string().min(1).max(200).optional(),
          name: z.string().min(1).max(200),
          arguments: z.json().default({}),
        }),
      )
      .min(1)
      .max(10_000),
  })
  .meta({ id: 'ScriptedCalls' });

export const scriptedSchema = z
  .strictObject({
    kind: z.literal('scripted'),
    script: z.array(scriptEntrySchema).min(1).max(10_000),
    seed: z.number().int().optional(),
    jitter_ms: z.number().int().min(0).max(60_000).optional(),
  })
  .meta({ id: 'ScriptedAdapter', description: 'A timeline in the request: demos, tests, load.' });

export const simulatedSchema = z
  .strictObject({
    kind: z.literal('simulated'),
    model: z.enum(['small', 'medium', 'large']).default('small'),
    seed: z.number().int().default(1),
    answer: z.string().max(100_000).optional().meta({ description: 'The right answer; else the last line asked.' }),
    wrong_answers: z.array(z.string().max(100_000)).max(100).optional(),
    accuracy: z.number().min(0).max(1).optional().meta({ description: 'Share of right answers, 0–1.' }),
    correlation: z
      .number()
      .min(0)
      .max(1)
      .default(0)
      .meta({ description: 'Share of draws that lanes with the same prompt have in common, 0–1.' }),
    failure_rate: z.number().min(0).max(1).default(0),
    first_token_ms: z.number().int().min(0).max(600_000).optional(),
    tokens_per_second: z.number().positive().max(1_000_000).optional(),
  })
  .meta({ id: 'SimulatedAdapter', description: 'A seeded model simulator: timing, accuracy, correlation, failures.' });

const modelName = z.string().min(1).max(200);
const maxTokens = z
  .number()
  .int()
  .min(1)
  .max(1_000_000)
  .optional()
  .meta({ description: 'Most tokens of an answer. Left out: 1024, or 4096 of an agent of a team.' });
const temperature = z.number().min(0).max(2).optional();

export const openaiCompatibleSchema = z
  .strictObject({
    kind: z.literal('openai-compatible'),
    provider: z.string().min(1).max(64).default('openai-compatible'),
    base_url: z
      .url()
      .refine(hasNoCredentials, `${noCredentials}; keys of models stand in the worker's environment`)
      .optional()
      .meta({ description: "Else OPENAI_BASE_URL of the worker's environment." }),
    model: modelName,
    max_tokens: maxTokens,
    temperature,
  })
  .meta({ id: 'OpenAiCompatibleAdapter' });
export const openaiSchema = z
  .strictObject({ kind: z.literal('openai'), model: modelName, max_tokens: maxTokens, temperature })
  .meta({ id: 'OpenAiAdapter' });
export const anthropicSchema = z
  .strictObject({ kind: z.literal('anthropic'), model: modelName, max_tokens: maxTokens, temperature })
  .meta({ id: 'AnthropicAdapter' });

export const commandSchema = z
  .strictObject({
    kind: z.literal('command'),
    argv: z.array(z.string().max(10_000)).min(1).max(256),
    stdin: z.string().max(1_000_000).optional().meta({ description: 'Else the prompt.' }),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(10_000)).optional(),
  })
  .meta({ id: 'CommandAdapter', description: 'A program; its standard output streams as partials.' });

export const httpSchema = z
  .strictObject({
    kind: z.literal('http'),
    url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).refine(hasNoCredentials, noCredentials),
  })
  .meta({ id: 'HttpAdapter', description: 'A remote agent that answers with frames as server-sent events.' });

export const a2aSchema = z
  .strictObject({
    kind: z.literal('a2a'),
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .refine(hasNoCredentials, `${noCredentials}; PARLEY_AGENT_KEYS of the worker holds the keys of agents`)
      .meta({ description: 'Of the agent, below which its card is, or of the card itself (….json).' }),
  })
  .meta({ id: 'A2aAdapter', description: 'An agent of the A2A protocol; its artifacts are the answer.' });

export const mcpSchema = z
  .strictObject({
    kind: z.literal('mcp'),
    server: z.string().min(1).max(32).meta({ description: 'Its name in the file of PARLEY_MCP_SERVERS.' }),
    tool: z.string().min(1).max(200).meta({ description: "By the server's own name for it." }),
    arguments: z.record(z.string(), z.json()).default({}).meta({ description: 'What else it is given.' }),
    prompt_argument: z
      .string()
      .min(1)
      .max(200)
      .nullable()
      .default('prompt')
      .meta({ description: 'The argument that the prompt is given as; null: it is not given.' }),
  })
  .meta({ id: 'McpAdapter', description: 'A tool of an MCP server; what it gives is the answer.' });

export const externalSchema = z
  .strictObject({ kind: z.literal('external') })
  .meta({ id: 'ExternalAdapter', description: 'Fed only by POST …/lanes/{lane}/frames with its lane key.' });

/** Who answers (spec 10 "Adapters"). */
export const adapterSchema = z
  .discriminatedUnion('kind', [
    scriptedSchema,
    simulatedSchema,
    openaiCompatibleSchema,
    openaiSchema,
    anthropicSchema,
    commandSchema,
    httpSchema,
    a2aSchema,
    mcpSchema,
    externalSchema,
  ])
  .meta({ id: 'Adapter' });

export type ScriptEntry = z.infer<typeof scriptEntrySchema>;
export type ScriptedAdapter = z.infer<typeof scriptedSchema>;
export type SimulatedAdapter = z.infer<typeof simulatedSchema>;
export type ModelAdapter = z.infer<typeof openaiCompatibleSchema | typeof openaiSchema | typeof anthropicSchema>;
export type CommandAdapter = z.infer<typeof commandSchema>;
export type HttpAdapter = z.infer<typeof httpSchema>;
export type A2aAdapter = z.infer<typeof a2aSchema>;
export type McpAdapter = z.infer<typeof mcpSchema>;
export type Adapter = z.infer<typeof adapterSchema>;
export type AdapterKind = Adapter['kind'];
