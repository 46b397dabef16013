import { jsonSchema, type ModelMessage, type ToolSet } from 'ai';
import type { Json } from '../../src/contracts/frames.js';
import { type Conversation, conversationOf, type ConversationStep } from '../../src/domain/agent/conversation.js';
import { inWords } from '../../src/domain/agent/prompt.js';
import { isObject } from '../../src/domain/model-json.js';
import type { AgentRequest } from '../ports.js';

/** A name as providers take it, who refuse a whole request for one call that a model once made up. */
const providerName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown';

/** Arguments as an object, which providers insist on: what could not be read is shown as it was written. */
const inputOf = (given: Json): object => {
  if (isObject(given)) return given;
  if (typeof given !== 'string') return given === null ? {} : { arguments: given };
  if (given.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(given);
    return isObject(value) ? value : { arguments: value };
  } catch {
    return { malformed_arguments: given }; // The model is told about it in the call's result.
  }
};

const messageOf = (step: ConversationStep): ModelMessage => {
  switch (step.role) {
    case 'user':
      return { role: 'user', content: step.text };
    case 'assistant': {
      const text = step.text.trim() === '' ? [] : [{ type: 'text' as const, text: step.text }];
      const calls = step.calls.map(({ shownId, name, arguments: given }) => {
        return { type: 'tool-call' as const, toolCallId: shownId, toolName: providerName(name), input: inputOf(given) };
      });
      return { role: 'assistant', content: [...text, ...calls] };
    }
    case 'results':
      return {
        role: 'tool',
        content: step.results.map(({ shownId, name, text }) => ({
          type: 'tool-result',
          toolCallId: shownId,
          toolName: providerName(name),
          output: { type: 'text', value: text },
        })),
      };
  }
};

const joined = (instructions: string | null, { system }: Conversation): string =>
  [...(instructions === null ? [] : [instructions]), ...system].join('\n\n');

type Asked = { system?: string } & ({ prompt: string } | { messages: ModelMessage[] });

/** What a model is asked with. Instructions come first and together: some providers take none between messages. */
export const askedWith = ({ instructions, prompt, messages, tools = [] }: AgentRequest): Asked => {
  if (messages === undefined) return { ...(instructions !== null && { system: instructions }), prompt };
  const conversation = conversationOf(messages);
  const system = joined(instructions, conversation);
  // Some providers refuse calls of tools in the messages of a request that has none.
  const steps = tools.length === 0 ? conversation.steps.map(inWords) : conversation.steps;
  return { ...(system !== '' && { system }), messages: steps.map(messageOf) };
};

/** Tools that a model may call; nothing is carried out by the SDK. */
export const toolSetOf = ({ tools = [] }: AgentRequest): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, parameters }) => [name, { description, inputSchema: jsonSchema(parameters) }]),
  );
