import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { type CallToolRequest, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { problemDocument, ProblemError, toProblemError } from '../problem.js';
import { routes } from '../routes/index.js';
import { startTools } from './start-tools.js';
import type { McpTool, ToolCall } from './tool.js';
import { version } from '../version.js';
import { workTools } from './work-tools.js';

const tools: readonly McpTool[] = [...startTools(routes), ...workTools(routes)];
const byName = new Map(tools.map((tool) => [tool.name, tool]));

/** Made once: the schemas never change. */
let described: object[] | null = null;
const describeTools = (): object[] =>
  (described ??= tools.map(({ name, description, inputSchema, hints }) => ({
    name,
    description,
    inputSchema: inputSchema(),
    annotations: { ...hints, openWorldHint: name.startsWith('start_') },
  })));

const instructions =
  'Parley runs teams of AI agents as durable work. Start work with a start_ tool, then call follow with its id until `ended` is true. ' +
  'When its status has an open request under `feedback`, ask the person, and give what they say with answer. Work goes on when you ' +
  'disconnect; list finds it again.';

/** What went wrong as the tool's answer, every fault in a line of its own, so that a model can mend its call. */
const refused = (error: unknown, { call }: ToolCall): CallToolResult => {
  const problem = toProblemError(error);
  if (problem.code === 'internal')
    call.log.error({ err: problem.options.cause ?? error, request_id: call.requestId }, 'tool failed');
  const faults = (problem.options.errors ?? []).map(({ path, message }) => `- ${[path, message].join(' ').trim()}`);
  return {
    isError: true,
    content: [{ type: 'text', text: [`${problem.code}: ${problem.detail}`, ...faults].join('\n') }],
    structuredContent: { ...problemDocument(problem, call.requestId) },
  };
};

const answered = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value as Record<string, unknown>,
});

/** As the SDK hands requests on: what its schema of a call refuses here it would call an error of the server. */
const anyCallSchema = z.looseObject({ method: z.literal('tools/call'), params: z.unknown().optional() });

const serverFor = (circumstances: ToolCall): Server => {
  const server = new Server(
    { name: 'parley', title: 'Parley', version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: describeTools() }) as never);
  server.setRequestHandler(anyCallSchema, async (request): Promise<CallToolResult> => {
    // The SDK has looked at it by its schema of a call.
    const params = request.params as CallToolRequest['params'];
    try {
      const tool = byName.get(params.name);
      if (tool) return answered(await tool.run(params.arguments ?? {}, circumstances));
      const there = [...byName.keys()].join(', ');
      throw new ProblemError('not_found', `There is no tool ${JSON.stringify(params.name)}; there are ${there}.`);
    } catch (error) {
      return refused(error, circumstances);
    }
  });
  return server;
};

/**
 * One message, or several, of a client of MCP: every instance can answer each, as nothing is kept between them. A notification is
 * answered with null.
 */
export const answerMcp = async (
  message: unknown,
  given: Omit<ToolCall, 'routes'>,
): Promise<{ status: number; answer: unknown }> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = serverFor({ ...given, routes });
  await server.connect(transport);
  try {
    const headers = Object.entries(given.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    const request = new Request('http://parley/mcp', {
      method: 'POST',
      headers: [...headers, ['content-type', 'application/json']],
    });
    const response = await transport.handleRequest(request, { parsedBody: message });
    const text = await response.text();
    return { status: response.status, answer: text === '' ? null : (JSON.parse(text) as unknown) };
  } finally {
    await server.close();
  }
};
