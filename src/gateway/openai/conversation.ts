import type { ChatMessage } from '../../contracts/chat.js';

/** A conversation as a session takes it. */
export interface Conversation {
  /** What system and developer messages say; null: there are none. */
  instructions: string | null;
  prompt: string;
  /** The last message of the user. */
  question: string;
}

const textOf = ({ content }: ChatMessage): string => content.map(({ text }) => text).join('\n');
const isInstruction = ({ role }: ChatMessage): boolean => role === 'system' || role === 'developer';

const transcript = (messages: readonly ChatMessage[]): string =>
  messages.map((message) => `${message.role === 'user' ? 'User' : 'Assistant'}: ${textOf(message)}`).join('\n\n');

/**
 * One message is the prompt as it is; of several, those before the last are told as a transcript, and the last is what is to be
 * answered. Instructions stand apart, wherever they come.
 */
export const readConversation = (messages: readonly ChatMessage[]): Conversation => {
  const said = messages.filter((message) => !isInstruction(message));
  const instructions = messages.filter(isInstruction).map(textOf).join('\n\n');
  const last = said.at(-1);
  const lastText = last ? textOf(last) : '';
  const earlier = said.slice(0, -1);
  const lastUser = said.findLast(({ role }) => role === 'user');
  const prompt =
    earlier.length === 0
      ? lastText
      : `The conversation so far:\n\n${transcript(earlier)}\n\n` +
        (last?.role === 'assistant'
          ? `Go on where the assistant's last message ends:\n\n${lastText}`
          : `Answer the user's last message:\n\n${lastText}`);
  return {
    instructions: instructions === '' ? null : instructions,
    prompt,
    question: lastUser ? textOf(lastUser) : lastText,
  };
};
