import { agentToolDefinitions } from '../src/agent-commands.js';
import type { AgentTemplate } from '../src/contracts/template.js';
import type { ToolDefinition } from '../src/domain/team/model-call.js';
import { offeredTools, toolRefusal } from '../src/domain/team/tool-use.js';
import type { AgentTools } from './tools/port.js';

/** Whose tools they are. */
export interface ToolOwner {
  /** Names of those that it may call; null: those that its template allows, else those by which agents concern each other. */
  tools: string[] | null;
  template?: AgentTemplate | null;
  /** Left out: true. */
  subagentsEnabled?: boolean;
}

export interface Offered {
  definitions: ToolDefinition[];
  /** Names. */
  allowed: string[];
  /** Names of tools that are not about agents. */
  others: string[];
}

/** What the model is offered, and what its calls are judged by. A tool that is not there at the moment may be called, and says so. */
export const offeredTo = async (
  { tools, template, subagentsEnabled = true }: ToolOwner,
  source: Pick<AgentTools, 'ready' | 'list'>,
): Promise<Offered> => {
  // Servers that the operator has named may be slow to come up with their worker.
  await source.ready();
  const about = agentToolDefinitions();
  const isAbout = (name: string): boolean => about.some((tool) => tool.name === name);
  const known = [...about, ...source.list()];
  const capabilities = template?.capabilities ?? null;
  const granted = tools ?? capabilities?.allowed_tools ?? about.map(({ name }) => name);
  const rights = { allowed: granted, capabilities };
  const named = granted.filter((name) => !name.includes('*') && toolRefusal(name, rights) === null);
  const offered = offeredTools(known, rights);
  const allowed = new Set([...offered.map(({ name }) => name), ...named]);
  const there = new Set([...allowed, ...known.map(({ name }) => name)]);
  return {
    definitions: subagentsEnabled ? offered : offered.filter(({ name }) => !isAbout(name)),
    allowed: [...allowed],
    others: [...there].filter((name) => !isAbout(name)),
  };
};
