import { z } from 'zod';
import { type Kind, kindSchema, kinds, tenantSchema, workListSchema } from '../../contracts/work.js';
import { collectionOf } from '../../links.js';
import { textNumber } from '../query-number.js';
import { type AnyRoute, route } from '../route.js';
import { exampleLinks } from './example-links.js';

const filters = {
  state: z
    .string()
    .regex(/^[A-Za-z_-]{1,64}$/, 'must be the name of a state, such as COMPLETE')
    .optional(),
  awaiting: z
    .enum(['true', 'false'])
    .transform((value) => value === 'true')
    .optional()
    .meta({ description: "Whether a person's answer is awaited." }),
  tenant: tenantSchema.optional(),
  cursor: z.string().min(1).max(4096).optional().meta({ description: '`next_cursor` of the page before.' }),
  limit: textNumber(z.number().int().min(1).max(200)).default(50),
};

const exampleList = {
  items: [
    {
      id: 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F',
      kind: 'session' as const,
      tenant: 'default',
      lifecycle: 'completed' as const,
      state: 'COMPLETE',
      waiting_for: null,
      summary: 'session: Which colour?',
      started_at: '2026-11-20T10:00:00.000Z',
      ended_at: '2026-11-20T10:00:02.000Z',
      links: exampleLinks('session', 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F'),
    },
  ],
  next_cursor: null,
};

const list = {
  method: 'get' as const,
  params: z.strictObject({}),
  headers: z.object({}),
  body: null,
  responses: { 200: { description: 'One page.', schema: workListSchema, example: exampleList } },
  problems: ['unauthorized', 'invalid_request', 'unavailable'] as const,
  access: 'api_key' as const,
};

export const listWork = route({
  ...list,
  path: '/v1/work',
  summary: 'List work of every kind',
  description:
    'Running work first, then the newest, from Temporal’s visibility store, which may lag by a moment: follow one piece of work by its status.',
  tag: 'work',
  query: z.strictObject({
    kind: kindSchema.optional().meta({ description: `One of ${kinds.join(', ')}.` }),
    ...filters,
  }),
  handle: async ({ query }, { work }) => ({ status: 200, body: await work.list(query) }),
});

export const listKind = (kind: Kind): AnyRoute =>
  route({
    ...list,
    path: `/v1/${collectionOf(kind)}`,
    summary: `List ${collectionOf(kind)}`,
    description: `The same as GET /v1/work?kind=${kind}.`,
    tag: collectionOf(kind),
    query: z.strictObject(filters),
    handle: async ({ query }, { work }) => ({ status: 200, body: await work.list({ ...query, kind }) }),
  });
