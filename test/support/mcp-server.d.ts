import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';

/** @param log a file that every call which changes something, and every cancel, adds a line to */
export function mcpServer(log: string): McpServer;
