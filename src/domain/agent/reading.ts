import type { AgentCommand } from '../../contracts/agent-tools.js';
import { readCalls } from '../team/actions/calls.js';
import type { ActionFault, ActionRegistry } from '../team/actions/registry.js';
import { taggedCalls } from '../team/actions/tagged-calls.js';
import { readTags, type TagReading } from '../team/actions/tags.js';
import type { ModelCall } from '../team/model-call.js';
import type { JsonObject } from '../model-json.js';

/** One thing that an answer asks for: a call of the team, or of a tool that is not about agents. */
export type TurnAction = { callId: string; name: string } & ({ command: AgentCommand } | { given: JsonObject });

/** What a model's answer comes to. */
export interface Reading {
  /** What it said, without the action tags that are carried out. */
  text: string;
  /** Its function calls as it made them: each is answered. */
  made: ModelCall[];
  /** In the order of the answer: function calls first, then action tags. */
  actions: TurnAction[];
  /** `callId` null: of a tag, which has none. */
  faults: { callId: string | null; fault: ActionFault }[];
}

/**
 * Reads an answer's function calls and action tags into one list (spec 05). Calls are named anew by `answerId`, which no other answer
 * of the agent has: models use the same ids in every answer. `others`: tools that are not about agents.
 */
export const readAnswer = (
  answer: { text: string; calls: readonly ModelCall[] },
  answerId: string,
  registry: ActionRegistry,
  others: readonly string[],
): Reading => readingOf(answer.calls, readTags(answer.text, registry), answerId, registry, others);

/** Reads an answer of an agent that makes no function calls: every tool may be called by its tag, as a function is elsewhere. */
export const readTaggedAnswer = (
  text: string,
  answerId: string,
  registry: ActionRegistry,
  others: readonly string[],
): Reading => {
  const { calls, faults, text: rest } = taggedCalls(text, others, registry.mend);
  return readingOf(calls, { commands: [], faults, text: rest }, answerId, registry, others);
};

const readingOf = (
  calls: readonly ModelCall[],
  tags: Omit<TagReading, 'quoted'>,
  answerId: string,
  registry: ActionRegistry,
  others: readonly string[],
): Reading => {
  const ids = new Map<string, string>();
  for (const { callId } of calls) if (!ids.has(callId)) ids.set(callId, `${answerId}-${ids.size + 1}`);
  const renamed = calls.map((call) => ({ ...call, callId: ids.get(call.callId) ?? call.callId }));
  const read = readCalls(renamed, registry, others);
  const actions = new Map<string, TurnAction>();
  for (const { callId, command } of read.commands) actions.set(callId, { callId, name: command.tool, command });
  for (const { callId, name, given } of read.others) actions.set(callId, { callId, name, given });
  // A call that stands there twice was taken once.
  const made = renamed.filter(({ callId }, index) => renamed.findIndex((other) => other.callId === callId) === index);
  const tagged = tags.commands.map((command, index): TurnAction => {
    return { callId: `${answerId}-tag-${index + 1}`, name: command.tool, command };
  });
  return {
    text: tags.text,
    made,
    actions: [...made.flatMap(({ callId }) => actions.get(callId) ?? []), ...tagged],
    faults: [
      // What was carried out has its own result: a second one for the same call is told in words.
      ...read.faults.map(({ callId, fault }) => ({ callId: actions.has(callId) ? null : callId, fault })),
      ...tags.faults.map((fault) => ({ callId: null, fault })),
    ].filter(
      (one, index, all) => one.callId === null || all.findIndex(({ callId }) => callId === one.callId) === index,
    ),
  };
};
