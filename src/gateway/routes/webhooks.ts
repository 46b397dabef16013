import { z } from 'zod';
import { tenantSchema } from '../../contracts/work.js';
import {
  webhookIdSchema,
  type WebhookItem,
  webhookListSchema,
  webhookStateSchema,
  type WebhookStatus,
  webhookStatusSchema,
} from '../../contracts/webhook.js';
import { ProblemError } from '../problem.js';
import { textNumber } from '../query-number.js';
import { pathAlone } from '../request-parts.js';
import { type Ports, route } from '../route.js';

const id = 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F:webhook:0:12';
const said = {
  id,
  work_id: 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F',
  tenant: 'default',
  type: 'parley.session.completed',
  target: 'https://hooks.example.com',
  state: 'dead' as const,
  detail: 'answered 404; given up after 1 attempt',
  started_at: '2026-11-20T10:00:02.000Z',
  ended_at: '2026-11-20T10:00:02.120Z',
};
const exampleItem: WebhookItem = { ...said, attempts: 1 };
const exampleStatus: WebhookStatus = {
  ...said,
  event_id: 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F:12',
  signed: true,
  attempts_made: 1,
  attempts: [
    {
      number: 1,
      at: '2026-11-20T10:00:02.010Z',
      took_ms: 95,
      http_status: 404,
      outcome: 'failed',
      detail: 'answered 404',
    },
  ],
  next_attempt_at: null,
  gives_up_at: '2026-11-21T10:00:02.000Z',
};

/** What cannot be an id is not known either. @throws ProblemError not_found */
const knownId = (given: string): string => {
  if (!webhookIdSchema.safeParse(given).success)
    throw new ProblemError(
      'not_found',
      `There is no webhook ${given.slice(0, 160)}; GET /v1/webhooks lists deliveries by their ids.`,
    );
  return given;
};

const one = {
  tag: 'webhooks',
  params: z.strictObject({ id: z.string().meta({ description: 'Id of the delivery.', example: id }) }),
  ...pathAlone,
  access: 'api_key' as const,
  owner: async (params: { id: string }, { webhooks }: Ports) => ({
    tenant: (await webhooks.status(knownId(params.id))).tenant,
    what: `webhook ${params.id}`,
  }),
};

const listWebhooks = route({
  method: 'get',
  path: '/v1/webhooks',
  tag: 'webhooks',
  summary: 'List deliveries of webhooks',
  description:
    'Each event and receiver is one delivery: pending ones first, then the newest. They come from Temporal’s visibility store, ' +
    'which may lag by a moment, and go with its retention.',
  params: z.strictObject({}),
  query: z.strictObject({
    state: webhookStateSchema.optional(),
    tenant: tenantSchema.optional(),
    cursor: z.string().min(1).max(4_096).optional().meta({ description: '`next_cursor` of the page before.' }),
    limit: textNumber(z.number().int().min(1).max(200)).default(50),
  }),
  headers: z.object({}),
  body: null,
  responses: {
    200: {
      description: 'One page.',
      schema: webhookListSchema,
      example: { items: [exampleItem], next_cursor: null },
    },
  },
  problems: ['unauthorized', 'invalid_request', 'unavailable'],
  access: 'api_key',
  handle: async ({ query }, { webhooks }) => ({ status: 200, body: await webhooks.list(query) }),
});

const getWebhook = route({
  ...one,
  method: 'get',
  path: '/v1/webhooks/{id}',
  summary: 'One delivery with its attempts',
  responses: { 200: { description: 'How it stands.', schema: webhookStatusSchema, example: exampleStatus } },
  problems: ['unauthorized', 'not_found', 'unavailable'],
  handle: async ({ params }, { webhooks }) => ({ status: 200, body: await webhooks.status(knownId(params.id)) }),
});

const redeliver = route({
  ...one,
  method: 'post',
  path: '/v1/webhooks/{id}/redeliver',
  summary: 'Deliver once more',
  description:
    'For one that is dead, or was delivered: the same event with the same webhook-id is tried anew, for as long as the first time. ' +
    'Secrets are looked up again, the target and what it may be are as they were.',
  responses: {
    202: {
      description: 'It is pending again.',
      schema: z.strictObject({ id: webhookIdSchema }).meta({ id: 'WebhookRedelivered' }),
      example: { id },
    },
  },
  problems: ['unauthorized', 'not_found', 'wrong_state', 'unavailable'],
  handle: async ({ params }, { webhooks }) => {
    await webhooks.redeliver(knownId(params.id));
    return { status: 202, body: { id: params.id } };
  },
});

export const webhookRoutes = [listWebhooks, getWebhook, redeliver];
