import type { AgentCommand } from '../../../contracts/agent-tools.js';
import { isObject, type JsonObject } from '../../model-json.js';
import type { ModelCall } from '../model-call.js';
import { type ActionFault, type ActionRegistry, checked, maxActions, refusalOf } from './registry.js';
import { agentTools, toolOfCall } from './tools.js';

/** A call before anything is known of its arguments. */
export type ReadableCall = Omit<ModelCall, 'arguments'> & { arguments: unknown };

/** What a model's function calls come to, each by its id: every call is answered. */
export interface CallReading {
  commands: { callId: string; command: AgentCommand }[];
  /** Of tools that are not about agents, with arguments that are an object; their own schemas check the rest. */
  others: { callId: string; name: string; given: JsonObject }[];
  faults: { callId: string; fault: ActionFault }[];
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // What a model wrote is no error: it is told below that it cannot be read.
  }
};

const argumentsOf = (given: unknown, { mend }: ActionRegistry): JsonObject | null => {
  if (isObject(given)) return given;
  if (given === undefined || given === null) return {};
  if (typeof given !== 'string') return null;
  const text = given.trim();
  if (text === '') return {};
  const value = parsed(text) ?? (text.startsWith('{') && text.endsWith('}') ? mend(text) : undefined);
  return isObject(value) ? value : null;
};

/** Reads function calls into the same commands as action tags (spec 05). `others`: tools that are not about agents. */
export const readCalls = (
  calls: readonly ReadableCall[],
  registry: ActionRegistry,
  others: readonly string[] = [],
): CallReading => {
  const reading: CallReading = { commands: [], others: [], faults: [] };
  const seen = new Set<string>();
  calls.forEach((call, index) => {
    const { callId, name } = call;
    const fault = (code: ActionFault['code'], message: string): void =>
      void reading.faults.push({ callId, fault: { tool: name, code, message } });
    if (index >= maxActions) {
      return fault(
        'too_many',
        `${name} was not carried out: an answer may hold at most ${maxActions} calls, and this one holds ${calls.length}`,
      );
    }
    if (seen.has(callId))
      return fault(
        'malformed',
        `${name} was not carried out: the call id ${JSON.stringify(callId)} stands there twice`,
      );
    seen.add(callId);
    const tool = toolOfCall(name);
    if (!tool && !others.includes(name)) {
      const known = [...agentTools.map((known) => known.name), ...others].join(', ');
      return fault('unknown_tool', `there is no tool ${JSON.stringify(name)}; there are ${known}`);
    }
    const given = argumentsOf(call.arguments, registry);
    if (!given) return fault('malformed', `${name} was not carried out: its arguments must be one JSON object`);
    if (tool) {
      const outcome = checked(registry, tool.name, given);
      if ('fault' in outcome) reading.faults.push({ callId, fault: outcome.fault });
      else reading.commands.push({ callId, command: outcome.command });
      return;
    }
    // Tools that are not about agents stay where sub-agents are switched off.
    const refusal = refusalOf({ ...registry, subagentsEnabled: true }, name);
    if (refusal) reading.faults.push({ callId, fault: refusal });
    else reading.others.push({ callId, name, given });
  });
  return reading;
};
