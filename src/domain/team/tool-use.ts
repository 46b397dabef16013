import type { ToolError } from '../../contracts/agent-tools.js';
import type { AgentTemplate } from '../../contracts/template.js';
import { matchesGlob } from './glob.js';
import type { ToolDefinition } from './model-call.js';

/** What says which tools an agent may call. */
export interface ToolRights {
  /** Of its plan; null: what its template allows, else those by which agents concern each other. */
  allowed: readonly string[] | null;
  /** Of its template (spec 10 "Agent template"); null: it says nothing. */
  capabilities: AgentTemplate['capabilities'] | null;
}

const mayCall = (names: readonly string[]): string =>
  names.length === 0 ? 'it may call none' : `it may call ${names.join(', ')}`;

const isAmong = (names: readonly string[], name: string): boolean => names.some((one) => matchesGlob(one, name));

/** The list that an agent's calls are looked up in first, names and patterns; null: it has none. */
export const grantedTools = ({ allowed, capabilities }: ToolRights): readonly string[] | null =>
  allowed ?? capabilities?.allowed_tools ?? null;

/**
 * Why an agent may not call a tool that is not about agents, looked at with each call; null: it may. In every list "*" stands for
 * any part of a name, as in `mcp__github__*`. What `forbidden_actions` holds beside names of tools is told to the agent alone.
 */
export const toolRefusal = (name: string, { allowed, capabilities }: ToolRights): ToolError | null => {
  const refuse = (code: string, why: string): ToolError => {
    return { status: 'error', code, message: `${name} was not carried out: ${why}` };
  };
  const { allowed_tools: listed, forbidden_actions: forbidden = [] } = capabilities ?? {};
  const granted = grantedTools({ allowed, capabilities }) ?? [];
  if (!isAmong(granted, name)) return refuse('not_allowed', `this agent may not call it; ${mayCall(granted)}`);
  if (listed && !isAmong(listed, name))
    return refuse('not_allowed', `the agent's template does not allow it; ${mayCall(listed)}`);
  const by = forbidden.find((action) => matchesGlob(action, name));
  return by === undefined ? null : refuse('forbidden', `the agent's template forbids ${JSON.stringify(by)}`);
};

/** Of the tools that there are, those that a model is offered for an agent. */
export const offeredTools = (tools: readonly ToolDefinition[], rights: ToolRights): ToolDefinition[] =>
  tools.filter(({ name }) => toolRefusal(name, rights) === null);
