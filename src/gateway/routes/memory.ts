import { z } from 'zod';
import { ratingsSchema, traceIdSchema, traceKindSchema, traceSchema, tracesSchema } from '../../contracts/memory.js';
import { tenantSchema } from '../../contracts/work.js';
import { ProblemError } from '../problem.js';
import { textNumber } from '../query-number.js';
import { type AnyRoute, route } from '../route.js';

const tenant = tenantSchema.default('default');
const traceId = '5f0c2c0e9a2b4a528f430d3a1a6f3c11';

const exampleShort = {
  trace_id: traceId,
  work_id: 'debate-01JD8W3Z4X5Y6Z7A8B9C0D1E2F',
  kind: 'debate' as const,
  task: 'Add an index to orders',
  outcome: 'succeeded' as const,
  decision: 'PROCEED' as const,
  consensus: 0.82,
  verified: true,
  summary: 'Decided in the first pass; 1 task of 1 succeeded.',
  tags: [{ tag: 'database', score: 0.9 }],
  created_at: '2026-11-20T10:00:02.000Z',
};

const exampleTrace = {
  ...exampleShort,
  tenant: 'default',
  passes: 1,
  plan: { tasks: [{ task_id: 't1', argv: ['npm', 'test'] }] },
  votes: [{ role: 'critic', persona_id: 'critic', stance: 'for' as const, confidence: 0.7, weight: 1.5 }],
  report: { tasks: 1, succeeded: 1, failed: 0, repairs: 0, diagnoses: [], rolled_back: false },
  elo_changes: [{ persona_id: 'critic', before: 1200, delta: -5, argued: true }],
};

const common = {
  method: 'get' as const,
  tag: 'memory',
  headers: z.object({}),
  body: null,
  access: 'api_key' as const,
};

const search = route({
  ...common,
  path: '/v1/memory',
  summary: 'Search what debates left behind',
  description:
    'By words and by likeness, best first; without `query` the newest. `similarity` is a cosine, null where words or time alone found it.',
  params: z.strictObject({}),
  query: z.strictObject({
    query: z
      .string()
      .max(2_000)
      .default('')
      .meta({ description: 'What to look for, in plain words.', example: 'index' }),
    tenant,
    kind: traceKindSchema.optional(),
    limit: textNumber(z.number().int().min(1).max(200)).default(10),
  }),
  responses: {
    200: {
      description: 'The traces found.',
      schema: tracesSchema,
      example: { items: [{ ...exampleShort, similarity: 0.61 }] },
    },
  },
  problems: ['unauthorized', 'invalid_request', 'unavailable'],
  handle: async ({ query: { query: text, ...rest } }, { memory }, { signal }) => ({
    status: 200,
    body: { items: await memory.search({ text, ...rest }, signal) },
  }),
});

const show = route({
  ...common,
  path: '/v1/memory/{trace_id}',
  summary: 'Show one trace whole',
  params: z.strictObject({ trace_id: traceIdSchema.meta({ example: traceId }) }),
  query: z.strictObject({ tenant }),
  responses: { 200: { description: 'The trace as it was stored.', schema: traceSchema, example: exampleTrace } },
  problems: ['unauthorized', 'invalid_request', 'not_found', 'unavailable'],
  handle: async ({ params, query }, { memory }, { signal }) => {
    const found = await memory.trace(query.tenant, params.trace_id, signal);
    if (found !== null) return { status: 200, body: found };
    throw new ProblemError(
      'not_found',
      `There is no trace ${params.trace_id} of the tenant ${query.tenant} in memory. A trace is written when its debate ends.`,
    );
  },
});

const ratings = route({
  ...common,
  path: '/v1/ratings',
  summary: 'List the ratings of personas',
  description: 'From the highest. A persona that has not taken part in a debate has none yet and counts as 1200.',
  params: z.strictObject({}),
  query: z.strictObject({ tenant }),
  responses: {
    200: {
      description: 'Every persona with a match.',
      schema: ratingsSchema,
      example: { items: [{ persona_id: 'critic', elo: 1210, matches: 3, successes: 2 }] },
    },
  },
  problems: ['unauthorized', 'invalid_request', 'unavailable'],
  handle: async ({ query }, { memory }, { signal }) => ({
    status: 200,
    body: { items: await memory.ratings(query.tenant, signal) },
  }),
});

export const memoryRoutes: readonly AnyRoute[] = [search, show, ratings];
