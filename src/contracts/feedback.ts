import { z } from 'zod';

export const feedbackTypes = ['approval', 'error_resolution', 'choice', 'input'] as const;
export const feedbackTypeSchema = z.enum(feedbackTypes);
export type FeedbackType = z.infer<typeof feedbackTypeSchema>;

/** `http`, `cli`, `page`: through the gateway; `signal`: sent to the workflow itself, from Temporal's UI or CLI. */
export const feedbackSources = ['http', 'cli', 'page', 'signal'] as const;
export const feedbackSourceSchema = z.enum(feedbackSources);
export type FeedbackSource = z.infer<typeof feedbackSourceSchema>;

export const feedbackRequestIdSchema = z
  .string()
  .regex(/^fr-\d{8}-[0-9a-f]{6}$/, 'must be fr-YYYYMMDD- and six hexadecimal digits')
  .meta({ description: 'Id of the feedback request.', example: 'fr-20261121-0a1b2c' });

export const digestSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
  .meta({ description: 'sha256 of the canonical JSON (RFC 8785) of what is asked about.' });

const optionValueSchema = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, "_" or "-"');

/** One thing that can be answered, and what it does. */
export const feedbackOptionSchema = z
  .strictObject({ value: optionValueSchema, label: z.string().max(256), effect: z.string().max(1_024) })
  .meta({ id: 'FeedbackOption' });
export type FeedbackOption = z.infer<typeof feedbackOptionSchema>;

/** An option as a definition writes it: a plain string is its value (spec 06). */
export const feedbackOptionBodySchema = z
  .union([
    optionValueSchema,
    z.strictObject({
      value: optionValueSchema,
      label: z.string().max(256).optional(),
      effect: z.string().max(1_024).optional(),
    }),
  ])
  .meta({ id: 'FeedbackOptionBody' });
export type FeedbackOptionBody = z.infer<typeof feedbackOptionBodySchema>;

/** What a person is asked (spec 06 "Feedback request"). `input` has no options: its answer is free text. */
export const feedbackRequestSchema = z
  .strictObject({
    request_id: feedbackRequestIdSchema,
    type: feedbackTypeSchema,
    prompt: z.string().min(1).max(100_000),
    options: z.array(feedbackOptionSchema).max(50),
    phase: z.string().nullable(),
    step: z.string().nullable(),
    digest: digestSchema
      .nullable()
      .meta({ description: 'Of exactly what an approval approves; null for other types.' }),
    opened_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().meta({ description: 'null: it waits for ever.' }),
    on_timeout: z.string().nullable().meta({ description: 'The option that a timeout counts as.' }),
  })
  .meta({ id: 'FeedbackRequest' });
export type FeedbackRequest = z.infer<typeof feedbackRequestSchema>;

const responseSchema = z
  .string()
  .trim()
  .min(1, 'must name an option, or hold the input that was asked for')
  .max(20_000);
const personSchema = z.string().trim().min(1).max(128);

/** What a budget may use from now on. */
export const givenLimitsSchema = z
  .strictObject({
    max_tokens: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
    max_usd: z.number().gt(0).max(1_000_000).optional(),
    max_seconds: z.number().int().min(1).max(31_536_000).optional(),
  })
  .refine((limits) => Object.keys(limits).length > 0, 'must hold max_usd, max_tokens or max_seconds')
  .meta({
    id: 'GivenLimits',
    description: 'With `approve`, to a team that asks for more: in place of the limits that it proposes.',
  });
export type GivenLimits = z.infer<typeof givenLimitsSchema>;

/** Body of POST /v1/{kind}/{id}/feedback (spec 10). */
export const feedbackBodySchema = z
  .strictObject({
    request_id: feedbackRequestIdSchema,
    response: responseSchema,
    comment: z.string().max(20_000).optional(),
    digest: digestSchema.optional().meta({ description: 'Of what was seen: refused when the content has changed.' }),
    provided_by: personSchema.optional().meta({
      description: 'Who answers, on a gateway without keys; with keys it is the name of the key.',
    }),
  })
  .meta({ id: 'FeedbackBody' });
export type FeedbackBody = z.infer<typeof feedbackBodySchema>;

/** Body of POST /v1/teams/{id}/feedback: what a team asks may be about money. */
export const teamFeedbackBodySchema = feedbackBodySchema
  .extend({ limits: givenLimitsSchema.optional() })
  .meta({ id: 'TeamFeedbackBody' });
export type TeamFeedbackBody = z.infer<typeof teamFeedbackBodySchema>;

/** An answer as it reaches the work; who gives it is filled in by the door it came through. */
export const givenFeedbackSchema = z
  .strictObject({
    request_id: z.string().max(128),
    response: z.string().max(20_000),
    comment: z.string().max(20_000).nullable(),
    limits: givenLimitsSchema.optional(),
    digest: z.string().max(128).nullable(),
    provided_by: personSchema,
    authenticated: z.boolean(),
    source: feedbackSourceSchema,
    idempotency_key: z
      .string()
      .max(255)
      .optional()
      .meta({ description: 'That it was sent with, where it was: the same answer again is known by it.' }),
  })
  .meta({ id: 'GivenFeedback' });
export type GivenFeedback = z.infer<typeof givenFeedbackSchema>;

/** An answer that counted; `response` is the option's own spelling. */
export const feedbackAnswerSchema = givenFeedbackSchema
  .extend({ request_id: feedbackRequestIdSchema, parsed_at: z.iso.datetime() })
  .meta({ id: 'FeedbackAnswer' });
export type FeedbackAnswer = z.infer<typeof feedbackAnswerSchema>;

export const refusalCodes = [
  'other_request',
  'closed',
  'expired',
  'unknown_option',
  'no_response',
  'wrong_limits',
  'changed_content',
  'not_an_approver',
  'self_approval',
  'unauthenticated',
] as const;

/** An answer that changed nothing, and why. */
export const refusedFeedbackSchema = givenFeedbackSchema
  .extend({ refused_at: z.iso.datetime(), code: z.enum(refusalCodes), message: z.string() })
  .meta({ id: 'RefusedFeedback' });
export type RefusedFeedback = z.infer<typeof refusedFeedbackSchema>;

export const feedbackStates = ['open', 'answered', 'expired', 'void'] as const;

const feedbackShape = {
  request: feedbackRequestSchema,
  state: z.enum(feedbackStates),
  answers: z.array(feedbackAnswerSchema),
  refused: z.array(refusedFeedbackSchema).meta({ description: 'The latest 20.' }),
  refused_count: z.number().int().min(0),
  closed_at: z.iso.datetime().nullable(),
};

/** A feedback request and what became of it. */
export const feedbackSchema = z.strictObject(feedbackShape).meta({ id: 'Feedback' });
export type Feedback = z.infer<typeof feedbackSchema>;

export const approvalOutcomes = ['pending', 'approved', 'rejected', 'changes_requested', 'expired', 'void'] as const;
export const approvalOutcomeSchema = z.enum(approvalOutcomes);
export type ApprovalOutcome = z.infer<typeof approvalOutcomeSchema>;

/** An approval as evidence (spec 08): bound to a digest, k of n, single use. */
export const approvalSchema = z
  .strictObject({
    ...feedbackShape,
    outcome: approvalOutcomeSchema,
    policy_version: z.string().meta({ description: 'Part of what the digest is made of.' }),
    needed: z.number().int().min(1).meta({ description: 'How many have to approve.' }),
    approvers: z
      .array(z.string())
      .nullable()
      .meta({ description: 'Who may answer; null: whoever may approve at all.' }),
    started_by: z.string().nullable().meta({ description: 'Who may not approve: the one who started the work.' }),
    requires_authentication: z.boolean(),
    escalate_at: z.iso.datetime().nullable(),
    escalate_to: z.array(z.string()).meta({ description: 'Who else may answer from escalate_at on.' }),
    escalated: z.boolean(),
    used_at: z.iso.datetime().nullable().meta({ description: 'When what it approves was begun; it serves once.' }),
  })
  .meta({ id: 'Approval' });
export type Approval = z.infer<typeof approvalSchema>;

/** What a start says about its approval gate (spec 10 "Debate"). */
export const approvalPolicySchema = z
  .strictObject({
    required: z.boolean().default(false),
    timeout_ms: z.number().int().min(1).max(31_536_000_000).default(86_400_000),
    k: z.number().int().min(1).max(50).default(1),
    approvers: z.array(personSchema).min(1).max(50).optional(),
    escalate_after_ms: z.number().int().min(1).max(31_536_000_000).optional(),
    escalate_to: z.array(personSchema).min(1).max(50).optional(),
  })
  .meta({ id: 'ApprovalPolicy' });
export type ApprovalPolicy = z.infer<typeof approvalPolicySchema>;
