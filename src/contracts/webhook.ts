import { z } from 'zod';
import { feedbackRequestSchema } from './feedback.js';
import { hasNoCredentials, noCredentials } from './url.js';

/** What is told of a piece of work: that it ended, in one of three ways, or that it stops until a person answers. */
export const webhookEventNames = ['completed', 'failed', 'cancelled', 'awaiting_feedback'] as const;
export type WebhookEventName = (typeof webhookEventNames)[number];

/** One receiver of what becomes of a piece of work (spec 08 "Webhooks"). */
export const webhookSchema = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL such as https://hooks.example.com/parley' })
      .max(2_048)
      .refine(hasNoCredentials, `${noCredentials}; name a secret of the worker under secret.env`)
      .meta({
        description: 'Where each event is posted. Shown with its origin alone, as a path or a query may hold a token.',
      }),
    // The words hold "got", so that a secret that was written here by mistake is not repeated in the refusal.
    secret: z
      .strictObject(
        {
          env: z
            .string()
            .regex(
              /^PARLEY_WEBHOOK_SECRET(_[A-Z0-9_]{1,64})?$/,
              'must be PARLEY_WEBHOOK_SECRET, or begin with PARLEY_WEBHOOK_SECRET_ and go on in capitals; this one got neither',
            ),
        },
        { error: 'must be {"env":"PARLEY_WEBHOOK_SECRET_…"}, a variable of the worker; it got something else' },
      )
      .optional()
      .meta({
        description:
          'The variable of the workers that holds the secret to sign with: whsec_ and 24 to 64 bytes in base64; two, with a space ' +
          'between them, while one takes the place of the other. A secret itself is taken from no request. Left out: events are not signed.',
      }),
    events: z
      .array(z.enum(webhookEventNames))
      .min(1, 'must name at least one event; leave it out for all')
      .max(webhookEventNames.length)
      .optional()
      .meta({ description: 'Which events are sent; left out: all.' }),
  })
  .meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof webhookSchema>;

export const maxWebhooks = 10;

const at = z.iso.datetime();

/** What a receiver is sent: a CloudEvent 1.0 in structured JSON. It is thin: what else there is, it asks for. */
export const webhookEventSchema = z
  .strictObject({
    specversion: z.literal('1.0'),
    id: z.string().meta({
      description:
        'Of the work and its durable event, the same at every attempt and in webhook-id: what has been seen is not to be done again.',
    }),
    source: z.string().meta({ description: 'Path of the status.', example: '/v1/sessions/session-1' }),
    type: z.string().meta({ description: 'parley.KIND.EVENT.', example: 'parley.session.completed' }),
    subject: z.string().meta({ description: 'Id of the work.' }),
    time: at.meta({ description: 'When it happened, not when it was sent.' }),
    datacontenttype: z.literal('application/json'),
    data: z.strictObject({
      id: z.string(),
      kind: z.string(),
      tenant: z.string(),
      event_id: z
        .number()
        .int()
        .meta({ description: 'Number of the durable event; later events of the same work have higher ones.' }),
      lifecycle: z.string(),
      state: z.string(),
      waiting: z.looseObject({ for: z.string(), detail: z.string() }).nullable(),
      error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
      spend: z.strictObject({ tokens: z.number(), usd: z.string() }),
      started_at: at,
      ended_at: at.nullable(),
      feedback_request: feedbackRequestSchema
        .pick({ request_id: true, type: true, phase: true, step: true, opened_at: true, expires_at: true })
        .nullable()
        .meta({ description: 'What a person is asked, where that is the event.' }),
    }),
  })
  .meta({ id: 'WebhookEvent' });
export type WebhookEvent = z.infer<typeof webhookEventSchema>;

export const webhookStates = ['pending', 'delivered', 'dead'] as const;
export const webhookStateSchema = z.enum(webhookStates).meta({
  description: 'pending: it is tried again; delivered: the receiver took it; dead: it was given up.',
});
export type WebhookState = z.infer<typeof webhookStateSchema>;

export const webhookIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}:webhook:\d{1,2}:\d{1,15}$/,
    'must be the id of a delivery, such as session-1:webhook:0:12',
  );

const shared = {
  id: webhookIdSchema.meta({
    description: 'Of the delivery: the work, which of its webhooks, and which of its events.',
  }),
  work_id: z.string(),
  tenant: z.string(),
  type: z.string().meta({ description: 'Of the event.', example: 'parley.session.completed' }),
  target: z.string().meta({ description: 'Origin of the URL.', example: 'https://hooks.example.com' }),
  state: webhookStateSchema,
  detail: z.string().nullable().meta({ description: 'What the last attempt came to; in a list, once it has ended.' }),
  started_at: at,
  ended_at: at.nullable(),
};

export const webhookItemSchema = z
  .strictObject({
    ...shared,
    attempts: z.number().int().min(0).nullable().meta({ description: 'null while it is tried.' }),
  })
  .meta({ id: 'WebhookItem' });
export type WebhookItem = z.infer<typeof webhookItemSchema>;

export const webhookListSchema = z
  .strictObject({ items: z.array(webhookItemSchema), next_cursor: z.string().nullable() })
  .meta({ id: 'WebhookList' });
export type WebhookList = z.infer<typeof webhookListSchema>;

export const webhookAttemptSchema = z
  .strictObject({
    number: z.number().int().min(1),
    at,
    took_ms: z.number().int().min(0),
    http_status: z.number().int().nullable().meta({ description: 'null: there was no answer.' }),
    outcome: z.enum(['delivered', 'failed']),
    detail: z.string(),
  })
  .meta({ id: 'WebhookAttempt' });
export type WebhookAttempt = z.infer<typeof webhookAttemptSchema>;

/** One delivery whole. */
export const webhookStatusSchema = z
  .strictObject({
    ...shared,
    event_id: z.string().meta({ description: '`id` of the CloudEvent, and webhook-id.' }),
    signed: z.boolean(),
    attempts_made: z.number().int().min(0),
    attempts: z.array(webhookAttemptSchema).meta({ description: 'The last 50.' }),
    next_attempt_at: at.nullable(),
    gives_up_at: at.meta({ description: 'No attempt begins after it.' }),
  })
  .meta({ id: 'WebhookStatus' });
export type WebhookStatus = z.infer<typeof webhookStatusSchema>;
