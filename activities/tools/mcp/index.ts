import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ParleyError } from '../../../src/domain/errors.js';
import type { JsonObject } from '../../../src/domain/model-json.js';
import type { ToolSource } from '../port.js';
import type { Environment } from './connection.js';
import { McpServer } from './server.js';
import type { McpServerSettings } from './settings.js';

export { mcpServersIn, type McpServerSettings, readMcpServers } from './settings.js';

/** The MCP servers of a worker, for whoever calls a tool of one by its own name. */
export interface McpServers {
  /** A source of tools for each. */
  sources: ToolSource[];
  /** Whether such a server is configured. */
  has(server: string): boolean;
  /**
   * @throws ParleyError not_found for a server that is not configured, else one that says why there is no result; the signal's
   * reason, and the server has been told then
   */
  request(server: string, tool: string, given: JsonObject, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

const sourceOf = (server: McpServer): ToolSource => ({
  name: `mcp:${server.name}`,
  open: () => server.open(),
  list: () => server.list(),
  owns: (name) => server.owns(name),
  failures: () => server.failures(),
  isRepeatable: (name) => server.isRepeatable(name),
  call: ({ name, given }, signal) => server.call(name, given, signal),
  close: () => server.close(),
});

/** Servers as the operator configured them; none is reached before it is opened. @param environment the worker's */
export const openMcpServers = (
  settings: readonly McpServerSettings[],
  environment: Environment,
  now: () => number = Date.now,
): McpServers => {
  const servers = settings.map((one) => new McpServer(one, environment, now));
  return {
    sources: servers.map(sourceOf),
    has: (name) => servers.some((server) => server.name === name),
    request: async (name, tool, given, signal) => {
      const server = servers.find((one) => one.name === name);
      if (server) return await server.request(tool, given, signal);
      const known = servers.map((one) => one.name).join(', ') || 'none';
      throw new ParleyError(
        'not_found',
        `there is no MCP server ${JSON.stringify(name)}; PARLEY_MCP_SERVERS names ${known}`,
      );
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
};
