import { z } from 'zod';
import { sessionResultSchema } from './session-status.js';
import { startCommon } from './work.js';

/** What a panel cannot do: named, so that nobody takes an answer for what it is not. */
const refused = (why: string) => ({ error: `is not supported: ${why}` });

const textPart = z.looseObject({
  type: z.literal('text', refused('only parts of type "text" are read')),
  text: z.string(),
});
const content = z
  .preprocess(
    (given) => (typeof given === 'string' ? [{ type: 'text', text: given }] : given),
    z.array(textPart, { error: 'must be a text, or a list of parts of type "text"' }),
  )
  .meta({ description: 'A text, or a list of parts `{"type":"text","text"}`.' });

const noCalls = refused('a panel calls no functions; tell what they gave in a message of the user');
export const chatMessageSchema = z
  .discriminatedUnion('role', [
    z.looseObject({ role: z.enum(['system', 'developer']), content }),
    z.looseObject({ role: z.literal('user'), content }),
    z.looseObject({
      role: z.literal('assistant'),
      content,
      tool_calls: z.array(z.unknown()).max(0, noCalls).nullish(),
      function_call: z.null(noCalls).optional(),
    }),
  ])
  .meta({ id: 'ChatMessage' });
export type ChatMessage = z.infer<typeof chatMessageSchema>;

/** Tunings of one model, which mean nothing to a panel of several: read over, as other compatible servers do. */
export const ignoredParameters = [
  'frequency_penalty',
  'logit_bias',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_retention',
  'reasoning_effort',
  'safety_identifier',
  'seed',
  'service_tier',
  'store',
  'top_p',
  'user',
  'verbosity',
] as const;
const ignored = Object.fromEntries(
  ignoredParameters.map((name) => [name, z.unknown().optional().meta({ description: 'Ignored.' })]),
) as Record<(typeof ignoredParameters)[number], z.ZodOptional<z.ZodUnknown>>;

const maxTokens = z.number().int().min(1).max(1_000_000).nullish();
const noFunctions = refused('a panel calls no functions');

/** POST /v1/chat/completions, as OpenAI's API has it (spec 08 "Interop"). */
export const chatRequestSchema = z
  .strictObject({
    model: z.string().min(1).max(200).meta({ description: 'The name of a panel: one that GET /v1/models lists.' }),
    messages: z.array(chatMessageSchema).min(1).max(2_000),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    temperature: z
      .number()
      .min(0)
      .max(2)
      .nullish()
      .meta({ description: 'For those lanes of the panel that are models.' }),
    max_completion_tokens: maxTokens.meta({
      description: 'Of each lane that is a model; what the panel says holds where it is less.',
    }),
    max_tokens: maxTokens.meta({ description: 'The older name of max_completion_tokens.' }),
    stop: z
      .union([z.string().min(1).max(200), z.array(z.string().min(1).max(200)).max(4)])
      .nullish()
      .meta({ description: 'The answer ends before the first of these.' }),
    metadata: startCommon.labels.unwrap().nullish().meta({ description: 'Becomes the labels of the session.' }),
    n: z.literal(1, refused('one session has one answer; ask again for another')).nullish(),
    tools: z.array(z.unknown()).max(0, noFunctions).nullish(),
    tool_choice: z.enum(['none', 'auto'], noFunctions).nullish(),
    functions: z.array(z.unknown()).max(0, noFunctions).nullish(),
    function_call: z.enum(['none', 'auto'], noFunctions).nullish(),
    response_format: z
      .looseObject({ type: z.literal('text', refused('say in a message which form the answer is to have')) })
      .nullish(),
    modalities: z.array(z.literal('text', refused('a panel answers in text'))).nullish(),
    audio: z.null(refused('a panel answers in text')).optional(),
    logprobs: z.literal(false, refused('an answer of several has no log probabilities')).nullish(),
    top_logprobs: z.literal(0, refused('an answer of several has no log probabilities')).nullish(),
    web_search_options: z.null(refused('what a panel may search is said where it is defined')).optional(),
    ...ignored,
    parley: z
      .strictObject({
        id: startCommon.id,
        tenant: startCommon.tenant.unwrap().optional(),
        budget: startCommon.budget.unwrap().optional(),
        webhooks: startCommon.webhooks.unwrap().optional(),
      })
      .optional()
      .meta({ description: 'What every start accepts, beside what OpenAI knows.' }),
  })
  .meta({ id: 'ChatCompletionRequest' });
export type ChatRequest = z.infer<typeof chatRequestSchema>;

export const chatUsageSchema = z
  .strictObject({
    prompt_tokens: z.number().int().min(0),
    completion_tokens: z.number().int().min(0),
    total_tokens: z.number().int().min(0),
  })
  .meta({
    id: 'ChatUsage',
    description:
      'total_tokens is what all lanes spent; completion_tokens an estimate for the answer, prompt_tokens the rest.',
  });
export type ChatUsage = z.infer<typeof chatUsageSchema>;

/** How the answer came about: an extension that clients of OpenAI read over. */
export const chatSessionSchema = z
  .strictObject({
    session_id: z.string(),
    ...sessionResultSchema.pick({
      agreement: true,
      for: true,
      against: true,
      below_threshold: true,
      partial: true,
      ended_by: true,
    }).shape,
  })
  .meta({ id: 'ChatSession' });

export const chatCompletionSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.number().int(),
    model: z.string(),
    choices: z.array(
      z.strictObject({
        index: z.literal(0),
        message: z.strictObject({ role: z.literal('assistant'), content: z.string(), refusal: z.null() }),
        logprobs: z.null(),
        finish_reason: z.literal('stop'),
      }),
    ),
    usage: chatUsageSchema,
    parley: chatSessionSchema,
  })
  .meta({ id: 'ChatCompletion' });

export const modelSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('model'),
    created: z.number().int().meta({ description: 'Not known: 0.' }),
    owned_by: z.literal('parley'),
    description: z.string().nullable(),
  })
  .meta({ id: 'Model' });
export type Model = z.infer<typeof modelSchema>;
export const modelListSchema = z
  .strictObject({ object: z.literal('list'), data: z.array(modelSchema) })
  .meta({ id: 'ModelList' });

/** An error as OpenAI's API has it. */
export const chatErrorSchema = z
  .strictObject({
    error: z.strictObject({
      message: z.string(),
      type: z.string(),
      code: z.string().nullable(),
      param: z.string().nullable(),
    }),
  })
  .meta({ id: 'ChatError' });
export type ChatError = z.infer<typeof chatErrorSchema>;
