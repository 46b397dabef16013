import { agentTools } from './actions/tools.js';
import { matchesGlob } from './glob.js';

/** Tools of every worker that are not about agents (spec 05 "Tools for agents"). */
export const workTools = ['list_files', 'read_file', 'search_files', 'write_file', 'run_command'] as const;

/** How the tools of MCP servers begin, which the operator of a worker names. */
export const mcpPrefix = 'mcp__';

const known: readonly string[] = [...agentTools.map(({ name }) => name), ...workTools];

/** Whether some tool of a server could be meant: all before the first star fits how they begin. */
const mayBeServers = (name: string): boolean => {
  const [start = ''] = name.split(/[*?]/);
  return start.length < mcpPrefix.length
    ? start.length < name.length && mcpPrefix.startsWith(start)
    : start.startsWith(mcpPrefix);
};

/** Why a name, or a pattern with "*", stands for no tool that there could be; null: it may stand for one. */
export const unknownTool = (name: string): string | null =>
  mayBeServers(name) || known.some((tool) => matchesGlob(name, tool))
    ? null
    : `is no tool: ${JSON.stringify(name)}; there are ${known.join(', ')}, and those of MCP servers as ${mcpPrefix}SERVER__TOOL`;
