import type { AgentCommand, AgentToolName } from '../../../contracts/agent-tools.js';
import type { JsonObject, Mend } from '../../model-json.js';

/** What function calls and action tags are checked by; the schemas stand in the contracts, out of the domain's reach. */
export interface ActionRegistry {
  /** Arguments as a command, or every fault in words that say what would be right. */
  check(tool: AgentToolName, given: JsonObject): { command: AgentCommand } | { faults: string[] };
  /** Turns nearly-JSON into a value. */
  mend: Mend;
  subagentsEnabled: boolean;
  /** Tools that this agent may call; null: all. */
  allowed: readonly string[] | null;
}

export type ActionFaultCode =
  | 'malformed'
  | 'unknown_tool'
  | 'invalid_arguments'
  | 'subagents_disabled'
  | 'not_allowed'
  | 'too_many'
  /** Of an answer that asks for nothing: it does not fit what the agent has to answer with. */
  | 'invalid_answer';

/** What of a model's answer was not carried out; told to the model, never thrown. */
export interface ActionFault {
  /** null: it names none. */
  tool: string | null;
  code: ActionFaultCode;
  message: string;
}

/** Actions that are carried out of one answer. */
export const maxActions = 100;

const maxDepth = 64;

const isDeep = (value: unknown, left: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some((member) => isDeep(member, left - 1)));

/** Arguments that were read, as a command or a fault: the one gate for tags and calls. */
export const checked = (
  registry: ActionRegistry,
  tool: AgentToolName,
  given: JsonObject,
): { command: AgentCommand } | { fault: ActionFault } => {
  const fault = (code: ActionFaultCode, message: string) => ({ fault: { tool, code, message } });
  const refusal = refusalOf(registry, tool);
  if (refusal) return { fault: refusal };
  if (isDeep(given, maxDepth))
    return fault(
      'invalid_arguments',
      `${tool} was not carried out: its arguments are nested more than ${maxDepth} deep`,
    );
  const result = registry.check(tool, given);
  if ('command' in result) return result;
  return fault('invalid_arguments', `${tool} was not carried out: ${result.faults.join('; ')}`);
};

/** Why this agent cannot call a tool at all; null: it can. */
export const refusalOf = (
  { subagentsEnabled, allowed }: Pick<ActionRegistry, 'subagentsEnabled' | 'allowed'>,
  tool: string,
): ActionFault | null => {
  if (!subagentsEnabled) {
    const message = `${tool} was not carried out: sub-agents are switched off for this team; do the work yourself`;
    return { tool, code: 'subagents_disabled', message };
  }
  if (allowed && !allowed.includes(tool)) {
    const may = allowed.length === 0 ? 'it may call none' : `it may call ${allowed.join(', ')}`;
    return { tool, code: 'not_allowed', message: `${tool} was not carried out: this agent may not call it; ${may}` };
  }
  return null;
};
