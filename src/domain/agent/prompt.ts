import type { Json } from '../../contracts/frames.js';
import type { ToolDefinition } from '../team/model-call.js';
import type { Conversation, ConversationStep, ShownCall } from './conversation.js';

const argumentsText = (given: Json): string => (typeof given === 'string' ? given : JSON.stringify(given));

const tagOf = ({ name, arguments: given }: ShownCall): string => `<${name}>${argumentsText(given)}</${name}>`;

const toolText = ({ name, description, parameters }: ToolDefinition): string =>
  `## ${name}\n${description}\nArguments, as JSON Schema: ${JSON.stringify(parameters)}`;

const saidText = ({ text, calls }: Extract<ConversationStep, { role: 'assistant' }>): string =>
  [text, ...calls.map(tagOf)].filter((part) => part !== '').join('\n');

/** A step without calls: they stand in its words, and so do their results. For a model that is offered no tools. */
export const inWords = (step: ConversationStep): ConversationStep => {
  switch (step.role) {
    case 'user':
      return step;
    case 'assistant':
      return { role: 'assistant', text: saidText(step), calls: [] };
    case 'results':
      return { role: 'user', text: step.results.map(({ name, text }) => `Result of ${name}:\n${text}`).join('\n\n') };
  }
};

const stepText = (step: ConversationStep): string => {
  switch (step.role) {
    case 'user':
      return `## user\n${step.text}`;
    case 'assistant':
      return `## you\n${saidText(step)}`;
    case 'results':
      return step.results.map(({ name, text }) => `## result of ${name}\n${text}`).join('\n\n');
  }
};

const howToCall = `Call a tool by an action tag: its name around one JSON object with the arguments, as in
<tool_name>{"argument": "value"}</tool_name>
Of several tags in one answer those about agents are carried out in their order, others side by side: what needs the result of another goes into your next answer. End your answer after them: the results come with what you are asked next. A tag within a code block is shown, not carried out. An answer without a tag is your last word on what you were asked.`;

/**
 * A conversation as one text, for agents that take text alone: by roles, with the tools as action tags. A single question to an
 * agent without instructions and tools stays as it is.
 */
export const promptOf = (
  { system, steps }: Conversation,
  instructions: string | null,
  tools: readonly ToolDefinition[],
): string => {
  const told = [...(instructions === null ? [] : [instructions]), ...system];
  const [first] = steps;
  if (told.length === 0 && tools.length === 0 && steps.length === 1 && first?.role === 'user') return first.text;
  return [
    ...(told.length === 0 ? [] : ['# Instructions', ...told]),
    ...(tools.length === 0 ? [] : ['# Tools', howToCall, ...tools.map(toolText)]),
    '# Conversation',
    ...steps.map(stepText),
  ].join('\n\n');
};
