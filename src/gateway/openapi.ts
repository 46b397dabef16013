import { z } from 'zod';
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi';
import { durableEventSchema, partialEventSchema } from '../contracts/events.js';
import { problemSchema } from '../contracts/problem.js';
import { webhookEventSchema } from '../contracts/webhook.js';
import { problemDocument, ProblemError, type ProblemCode, problems } from './problem.js';
import type { AnyRoute } from './route.js';

const problemExample = (code: ProblemCode) =>
  problemDocument(
    code === 'invalid_request'
      ? new ProblemError(code, '1 fault; nothing was done.', {
          errors: [{ path: 'lanes[0].tier', message: 'must be gold, silver or bronze; got "tin"' }],
        })
      : new ProblemError(code, problems[code].advice),
    '5f0c2c0e-9a2b-4a52-8f43-0d3a1a6f3c11',
  );

/** One response for each status; codes that share it are examples of it. */
const problemResponses = (codes: readonly ProblemCode[]) => {
  const statuses = new Set(codes.map((code) => problems[code].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const same = codes.filter((code) => problems[code].status === status);
      return [
        String(status),
        {
          description: same.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
          ...((status === 429 || status === 503) && {
            headers: { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' as const } } },
          }),
          content: {
            'application/problem+json': {
              schema: problemSchema,
              examples: Object.fromEntries(same.map((code) => [code, { value: problemExample(code) }])),
            },
          },
        },
      ];
    }),
  );
};

const operationId = ({ method, path }: AnyRoute): string =>
  `${method}${path
    .split('/')
    .filter((part) => part !== '')
    .map((part) =>
      part.replace(/[{}]/g, '').replace(/(^|[^a-zA-Z0-9]+)([a-z0-9])/gi, (_, __, c: string) => c.toUpperCase()),
    )
    .join('')}`;

const mediaType = ({ streams, bytes }: AnyRoute): string => {
  if (streams) return 'text/event-stream';
  return bytes === true ? 'application/octet-stream' : bytes || 'application/json';
};

/** OpenAPI says by itself who may ask, and for which type. */
const withoutOwn = (headers: z.ZodObject): z.ZodObject =>
  z.object(
    Object.fromEntries(Object.entries(headers.shape).filter(([name]) => name !== 'authorization' && name !== 'accept')),
  );

const operationOf = (route: AnyRoute): ZodOpenApiOperationObject => {
  const successes = Object.entries(route.responses).map(
    ([status, { description, schema, example, headers, markdown }]) => [
      status,
      {
        description,
        ...(headers && {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, text]) => [
              name,
              { description: text, schema: { type: 'string' as const } },
            ]),
          ),
        }),
        content: {
          [mediaType(route)]: {
            schema,
            ...(example !== undefined && { example: example as unknown }),
          },
          ...(markdown !== undefined && {
            'text/markdown': { schema: { type: 'string' as const }, example: markdown },
          }),
        },
      },
    ],
  );
  const codes: ProblemCode[] = [
    ...route.problems,
    ...(route.access === 'api_key' && !route.problems.includes('forbidden') ? (['forbidden'] as const) : []),
    ...(route.path.startsWith('/v1/') ? (['rate_limited', 'internal'] as const) : []),
  ];
  return {
    operationId: operationId(route),
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [route.tag],
    ...(route.access === 'open'
      ? { security: [] }
      : { security: [route.access === 'api_key' ? { apiKey: [] } : { laneKey: [] }] }),
    requestParams: {
      path: route.params as z.ZodObject,
      query: route.query as z.ZodObject,
      header: withoutOwn(route.headers as z.ZodObject),
    },
    ...(route.body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: route.body,
            ...(route.bodyExample !== undefined && { example: route.bodyExample }),
          },
          ...(route.textBody && {
            'text/plain': { schema: { type: 'string' as const }, example: route.textBody.example },
          }),
        },
      },
    }),
    responses: { ...Object.fromEntries(successes), ...problemResponses([...new Set(codes)]) },
  };
};

/** OpenAPI 3.1 from the very table that mounts the routes (spec 09). */
export const openApiDocument = (routes: readonly AnyRoute[], version: string) => {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Parley',
        version,
        description:
          'Teams of AI agents as durable work. Errors are RFC 9457 problem documents with a stable `code`; ' +
          'field names are snake_case, times ISO 8601 UTC, durations end in `_ms`.',
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'sessions', description: 'One question to several lanes in parallel.' },
        { name: 'debates', description: 'A task argued by five roles, decided, executed, healed or rolled back.' },
        { name: 'fan-outs', description: 'Isolated workers, a barrier, and one result made of theirs.' },
        { name: 'runs', description: 'Phases of steps, with gates at which people decide how it goes on.' },
        {
          name: 'coordinators',
          description: 'Many runs as one: what they ask in one report, and one text that answers it.',
        },
        { name: 'teams', description: 'Agents that are spawned, talk, wait, and use tools, within slots and budgets.' },
        { name: 'refinements', description: 'A generator and a critic, round by round.' },
        { name: 'work', description: 'Work of every kind.' },
        { name: 'chat', description: 'Panels as models, for clients of OpenAI’s API.' },
        { name: 'inbox', description: 'What people are asked, over all work, and their answers.' },
        { name: 'audit', description: 'The signed log of what was decided and done.' },
        { name: 'memory', description: 'What debates left behind, and how their personas stand.' },
        { name: 'budgets', description: 'What tenants may use over all their work, and what is spent of it.' },
        { name: 'providers', description: 'Limits of providers, what is used of them, and who waits.' },
        { name: 'webhooks', description: 'Events on their way to the receivers that work names (WebhookEvent).' },
        { name: 'artifacts', description: 'Files that work produced, by the digest of their content.' },
        { name: 'interop', description: 'The same for clients of other protocols.' },
        { name: 'operation', description: 'Probes.' },
      ],
      paths,
      components: {
        schemas: {
          DurableEvent: durableEventSchema,
          PartialEvent: partialEventSchema,
          WebhookEvent: webhookEventSchema,
        },
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'A key of PARLEY_API_KEYS; none on an open loopback gateway.',
          },
          laneKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'The key of one lane, from the answer to the start.',
          },
        },
      },
    },
    {
      // Numbers and lists of a query arrive as text and are read by a transformation: what it gives is what is documented.
      override: ({ jsonSchema, zodSchema, io }) => {
        const { def } = zodSchema._zod;
        if (def.type !== 'pipe' || io !== 'input' || def.in._zod.def.type !== 'transform') return;
        if (def.out._zod.def.type !== 'number') return;
        const read = def.out._zod.bag as { minimum?: number; maximum?: number; format?: string };
        jsonSchema.type = read.format === 'safeint' ? 'integer' : 'number';
        if (read.minimum !== undefined) jsonSchema.minimum = read.minimum;
        if (read.maximum !== undefined) jsonSchema.maximum = read.maximum;
      },
      allowEmptySchema: { transform: true, unknown: true },
    },
  );
};
