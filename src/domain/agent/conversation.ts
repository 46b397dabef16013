import type { Json } from '../../contracts/frames.js';
import type { ContextMessage } from '../team/context/message.js';

/** A function call under the id that a provider is shown: models take short ids of few characters alone. */
export interface ShownCall {
  shownId: string;
  name: string;
  arguments: Json;
}

/** One step of a conversation. Results stand right behind the calls that they are of, one for each. */
export type ConversationStep =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: ShownCall[] }
  | { role: 'results'; results: { shownId: string; name: string; text: string }[] };

export interface Conversation {
  /** What is told before anything is asked. */
  system: string[];
  steps: ConversationStep[];
}

const noResultYet = '{"status":"error","code":"no_result","message":"there is no result of this call yet"}';
const leftOut = 'What was said before is left out, as it has no room.';
const nothing = '(nothing)';

const isBlank = (text: string): boolean => text.trim() === '';

/**
 * An agent's context as models take a conversation: one that a person begins and ends, in which every function call has its result
 * at once. Agents that share a session write between each other's calls and results, and trimming may leave an answer first.
 * Results of action tags are told in words, as the model made no call that they could be of.
 */
export const conversationOf = (messages: readonly ContextMessage[]): Conversation => {
  const made = new Set(messages.flatMap((message) => (message.made ?? []).map(({ callId }) => callId)));
  const results = new Map(
    messages.flatMap(({ resultOf, content }) => (resultOf === null ? [] : [[resultOf, content]])),
  );
  const steps: ConversationStep[] = [];
  for (const message of messages) {
    const { role, content, resultOf } = message;
    if (role === 'system' || (resultOf !== null && made.has(resultOf))) continue;
    if (role === 'user') steps.push({ role, text: isBlank(content) ? nothing : content });
    else if (role === 'tool') steps.push({ role: 'user', text: `Result of an action:\n${content}` });
    else {
      const calls = (message.made ?? []).map((call, index) => ({
        callId: call.callId,
        shown: { shownId: `call_${message.messageId}_${index + 1}`, name: call.name, arguments: call.arguments },
      }));
      if (calls.length === 0 && isBlank(content)) continue;
      steps.push({ role, text: content, calls: calls.map(({ shown }) => shown) });
      if (calls.length === 0) continue;
      const told = calls.map(({ callId, shown: { shownId, name } }) => {
        return { shownId, name, text: results.get(callId) ?? noResultYet };
      });
      steps.push({ role: 'results', results: told });
    }
  }
  if (steps[0]?.role !== 'user') steps.unshift({ role: 'user', text: leftOut });
  if (steps.at(-1)?.role === 'assistant') steps.push({ role: 'user', text: 'It is your turn.' });
  const system = messages.flatMap(({ role, content }) => (role === 'system' && !isBlank(content) ? [content] : []));
  return { system, steps };
};
