import { z } from 'zod';
import { type AgentCommand, agentToolSchemas, type AgentToolName } from './contracts/agent-tools.js';
import { agentTools } from './domain/team/actions/tools.js';
import type { ToolDefinition } from './domain/team/model-call.js';
import { parseWhole } from './parse.js';

const commandOf = (tool: AgentToolName, given: unknown): AgentCommand => ({ tool, given }) as AgentCommand;

/** Arguments of a tool for agents as a command, or every fault by its path (details 3.2: before anything changes). */
export const checkAgentCommand = (
  tool: AgentToolName,
  given: Record<string, unknown>,
): { command: AgentCommand } | { faults: string[] } => {
  const parsed = parseWhole<z.ZodType>(agentToolSchemas[tool], given);
  if (parsed.ok) return { command: commandOf(tool, parsed.value) };
  return { faults: parsed.faults.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)) };
};

let definitions: readonly ToolDefinition[] | null = null;

/** The tools for agents as models are offered them: name, description and the JSON Schema of the arguments; always the same list. */
export const agentToolDefinitions = (): readonly ToolDefinition[] =>
  // Made when it is first asked for: the schemas take several milliseconds, which an agent would wait for at each call.
  (definitions ??= agentTools.map(({ name, description }) => ({
    name,
    description,
    parameters: z.toJSONSchema(agentToolSchemas[name], { io: 'input' }) as Record<string, unknown>,
  })));
