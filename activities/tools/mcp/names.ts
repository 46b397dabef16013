import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { mcpPrefix } from '../../../src/domain/team/known-tools.js';
import type { ToolDefinition } from '../../../src/domain/team/model-call.js';

/** A tool of a server as models are offered it. */
export interface OfferedTool {
  definition: ToolDefinition;
  /** As the server names it. */
  tool: string;
  isRepeatable: boolean;
}

/** What every provider takes for a name. */
const mostChars = 64;

export const prefixOf = (server: string): string => `${mcpPrefix}${server}__`;

const descriptionOf = ({ title, annotations, description, name }: Tool): string =>
  description?.trim() || title?.trim() || annotations?.title?.trim() || name;

/** The tools that a server has, and why some of them cannot be offered. */
export const offeredBy = (
  server: string,
  tools: readonly Tool[],
): { offered: Map<string, OfferedTool>; faults: string[] } => {
  const offered = new Map<string, OfferedTool>();
  const faults: string[] = [];
  for (const tool of tools) {
    const name = prefixOf(server) + tool.name.replace(/[^A-Za-z0-9_-]/g, '_');
    const other = offered.get(name);
    if (name.length > mostChars) {
      const over = name.length - mostChars;
      faults.push(
        `tool ${JSON.stringify(tool.name)} is not offered: ${name} is ${over} characters longer than models take; give the server a shorter name`,
      );
    } else if (other) {
      faults.push(
        `tool ${JSON.stringify(tool.name)} is not offered: as ${name} it would be the same as ${JSON.stringify(other.tool)}`,
      );
    } else if (tool.execution?.taskSupport === 'required') {
      faults.push(`tool ${JSON.stringify(tool.name)} is not offered: it can only be called as a task of MCP`);
    } else {
      const { readOnlyHint = false, idempotentHint = false } = tool.annotations ?? {};
      const definition = { name, description: descriptionOf(tool), parameters: tool.inputSchema };
      offered.set(name, { definition, tool: tool.name, isRepeatable: readOnlyHint || idempotentHint });
    }
  }
  return { offered, faults };
};
