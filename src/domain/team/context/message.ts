import type { ContextCategory } from '../../../contracts/team.js';
import type { ModelCall } from '../model-call.js';

/** Tokens of a text, as whoever knows the model counts them. */
export type CountTokens = (text: string) => number;

/** One message of an agent's context. It never changes: what is written anew is another message. */
export interface ContextMessage {
  /** From 1, in the order in which messages came into the team. */
  messageId: number;
  category: ContextCategory;
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  tokens: number;
  /** Ids of the tool calls that it makes. */
  calls: string[];
  /** Those of them that are function calls, as the model made them: it is shown them so again. Left out: none is. */
  made?: ModelCall[];
  /** The call that it is the result of; null: of none. */
  resultOf: string | null;
}

export interface NewMessage {
  role: ContextMessage['role'];
  content: string;
  /** Left out: by its role. */
  category?: ContextCategory;
  calls?: readonly string[];
  made?: readonly ModelCall[];
  resultOf?: string;
}

/** Calls and results are of one category, so that copying and dropping one never leaves the other behind. */
export const categoryOf = ({ role, category, calls = [], resultOf }: NewMessage): ContextCategory => {
  if (calls.length > 0 || resultOf !== undefined) return 'tool';
  return category ?? (role === 'system' ? 'system' : role === 'tool' ? 'tool' : 'dialog');
};

/** Messages that stand or fall together: a call with its results, or one message alone. */
export interface MessageGroup {
  messages: ContextMessage[];
  /** Every call of it has its result. */
  isComplete: boolean;
}

/** The groups of one session, in the order of their first messages; a result may stand before its call, which was written anew. */
export const groupsOf = (messages: readonly ContextMessage[]): MessageGroup[] => {
  const answered = new Set(messages.flatMap(({ resultOf }) => resultOf ?? []));
  const byCall = new Map<string, MessageGroup>();
  for (const { calls } of messages) {
    if (calls.length === 0) continue;
    const group: MessageGroup = { messages: [], isComplete: calls.every((call) => answered.has(call)) };
    for (const call of calls) byCall.set(call, group);
  }
  const groups = new Set<MessageGroup>();
  for (const message of messages) {
    const call = message.calls[0] ?? message.resultOf;
    const group = (call === null ? undefined : byCall.get(call)) ?? { messages: [], isComplete: true };
    group.messages.push(message);
    groups.add(group);
  }
  return [...groups];
};
