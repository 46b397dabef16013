import { z } from 'zod';
import { isLoopback } from '../../settings/loopback.js';
import { type JsonRpc, jsonRpcRequestSchema, jsonRpcSchema, noJsonRpc } from '../../contracts/json-rpc.js';
import { type AnyRoute, type Ports, route } from '../route.js';
import { workerHeader } from '../request-parts.js';

const version = z.string().max(20).optional().meta({
  description:
    '1.0, or 0.3, which is meant where it is left out or empty; of a patch version the first two numbers count.',
});
/** In place of the header. */
const query = z.object({ 'A2A-Version': version });
const whereabouts = {
  host: z.string().optional(),
  'x-forwarded-proto': z.string().optional().meta({ description: 'Set by a proxy that ends TLS.' }),
  'a2a-version': version,
};

/** The version that is asked for; undefined: none is. */
const versionOf = (
  headers: { 'a2a-version'?: string | undefined },
  asked: z.output<typeof query>,
): string | undefined => {
  const given = (headers['a2a-version'] || asked['A2A-Version'] || '').trim();
  return given === '' ? undefined : given.replace(/^(\d+\.\d+)\.\d+$/, '$1');
};

/** Where this gateway is for who asked: as configured, else as it was called. */
const endpointOf = (
  { config }: Ports,
  headers: { host?: string | undefined; 'x-forwarded-proto'?: string | undefined },
): string => {
  if (config.publicUrl !== null) return `${config.publicUrl}/a2a`;
  const host = headers.host ?? `${config.host}:${config.port}`;
  const scheme =
    headers['x-forwarded-proto']?.split(',')[0]?.trim() === 'https' && !isLoopback(host) ? 'https' : 'http';
  return `${scheme}://${host}/a2a`;
};

const card = route({
  method: 'get',
  path: '/.well-known/agent-card.json',
  summary: 'The agent card of A2A',
  description:
    'Says where and how Parley is asked over A2A, in version 1.0 or 0.3 of the protocol by the header `A2A-Version`. It needs no key, as ' +
    'it says that one is needed; who sends a key gets the panels as skills from `GetExtendedAgentCard`.',
  tag: 'interop',
  params: z.strictObject({}),
  query,
  headers: z.object(whereabouts),
  body: null,
  responses: {
    200: {
      description: 'The card.',
      schema: z
        .looseObject({ name: z.string(), description: z.string(), version: z.string() })
        .meta({ id: 'AgentCard' }),
      headers: { Vary: 'A2A-Version' },
    },
  },
  problems: ['rate_limited'],
  access: 'open',
  handle: async ({ headers, query: asked }, ports, call) => {
    const [{ agentCard }, { cardDocument }] = await Promise.all([import('../a2a/card.js'), import('../a2a/answer.js')]);
    const told = agentCard(endpointOf(ports, headers), { needsKey: !ports.access.isOpen(), panels: null });
    const body = await cardDocument(told, { ports, call, headers: {} }, versionOf(headers, asked));
    return { status: 200, body: body as never, headers: { Vary: 'A2A-Version' } };
  },
});

const endpoint = route({
  method: 'post',
  path: '/a2a',
  summary: 'Parley as an A2A agent',
  description:
    'JSON-RPC of the Agent2Agent protocol, 1.0 (`SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask`, `SubscribeToTask`) and 0.3 (`message/send`, ' +
    '`message/stream`, `tasks/get`, `tasks/cancel`, `tasks/resubscribe`). A message starts a session of a panel (`model` in its metadata, default `parley`); the ' +
    'task is that session, by its id, and its artifact the final. Provisional answers and revisions are what the agent says while it works. ' +
    'The same messageId with the same content is the same task; referenceTaskIds makes earlier tasks part of what is asked. ' +
    '`ListTasks` has every session of the tenant, those first that began or ended last, as of a moment ago; its `statusTimestampAfter` is that time.',
  tag: 'interop',
  params: z.strictObject({}),
  query,
  headers: z.object({
    ...whereabouts,
    'parley-worker': workerHeader,
  }),
  body: jsonRpcRequestSchema,
  bodyExample: {
    jsonrpc: '2.0' as const,
    id: 1,
    method: 'SendMessage',
    params: { message: { messageId: '5f0c2c0e', role: 'ROLE_USER', parts: [{ text: 'Which colour is the sky?' }] } },
  },
  responses: {
    200: { description: 'The answer, or a stream of answers as server-sent events.', schema: jsonRpcSchema },
    400: noJsonRpc,
  },
  problems: ['unauthorized', 'too_large', 'unsupported_media_type', 'unavailable', 'rate_limited'],
  access: 'api_key',
  // Looking is enough to ask; what a message does asks for what its own route needs.
  needs: 'read',
  asksOwners: true,
  handle: async ({ headers, query: asked, body }, ports, call) => {
    const [{ agentCard }, { answerA2a }] = await Promise.all([import('../a2a/card.js'), import('../a2a/answer.js')]);
    const told = agentCard(endpointOf(ports, headers), {
      needsKey: !ports.access.isOpen(),
      panels: ports.panels.names,
    });
    const { 'parley-worker': worker } = headers;
    const given = { ports, call, headers: worker === undefined ? {} : { 'parley-worker': worker }, card: told };
    const answered = await answerA2a(body, versionOf(headers, asked), given);
    if ('messages' in answered) return { status: 200, messages: answered.messages };
    return { status: 200, body: answered.answer as JsonRpc };
  },
});

export const a2aRoutes: readonly AnyRoute[] = [card, endpoint];
