import { z } from 'zod';
import { type JsonRpc, jsonRpcSchema, noJsonRpc } from '../../contracts/json-rpc.js';
import { route } from '../route.js';
import { workerHeader } from '../request-parts.js';

const exampleCall = {
  jsonrpc: '2.0' as const,
  id: 1,
  method: 'tools/call',
  params: { name: 'follow', arguments: { id: 'session-01JD8W3Z4X5Y6Z7A8B9C0D1E2F', wait_seconds: 30 } },
};

/** Loaded at the first request: the SDK would take its time of every start. */
export const mcpRoute = route({
  method: 'post',
  path: '/mcp',
  summary: 'Parley as an MCP server',
  description:
    'Streamable HTTP of the Model Context Protocol, without sessions: each message is answered for itself, by whichever gateway. ' +
    'Tools start each kind of work (`start_session`, `start_debate` …), `follow`, `answer` and `cancel` it, `list` and `compare` work, and show ' +
    'and answer the `inbox`; they take the same bodies as the routes, and a key may do with them what it may over HTTP.',
  tag: 'interop',
  params: z.strictObject({}),
  query: z.strictObject({}),
  headers: z.object({
    accept: z.string().optional(),
    'mcp-protocol-version': z.string().optional().meta({ description: 'Which the client and server agreed on.' }),
    'parley-worker': workerHeader,
  }),
  body: z.union([jsonRpcSchema, z.array(jsonRpcSchema).min(1).max(100)]),
  bodyExample: exampleCall,
  responses: {
    200: {
      description: 'The answer.',
      schema: z.union([jsonRpcSchema, z.array(jsonRpcSchema)]),
      example: { jsonrpc: '2.0', id: 1, result: { content: [], structuredContent: {} } },
    },
    202: { description: 'Taken: a notification has no answer.', schema: z.null() },
    400: noJsonRpc,
    406: noJsonRpc,
  },
  problems: ['unauthorized', 'too_large', 'unsupported_media_type', 'rate_limited'],
  access: 'api_key',
  // Looking is enough to ask; each tool asks for what its own route needs.
  needs: 'read',
  asksOwners: true,
  handle: async ({ headers, body }, ports, call) => {
    const { answerMcp } = await import('../mcp/server.js');
    const { status, answer } = await answerMcp(body, { ports, call, headers });
    if (answer === null) return { status: 202, body: null };
    const told = answer as JsonRpc;
    if (status === 400) return { status, body: told };
    if (status === 406) return { status, body: told };
    return { status: 200, body: told };
  },
});
