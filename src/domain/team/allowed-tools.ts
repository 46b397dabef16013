import type { AgentTemplate } from '../../contracts/template.js';
import { agentTools } from './actions/tools.js';

/** Names of the tools that an agent may call: of its list, else those about agents, as far as its template allows them. */
export const allowedTools = (tools: readonly string[] | null, template: AgentTemplate | null): string[] => {
  const listed = template?.capabilities?.allowed_tools;
  if (tools === null) return listed ? [...new Set(listed)] : agentTools.map(({ name }) => name);
  return [...new Set(listed ? tools.filter((name) => listed.includes(name)) : tools)];
};
