import { approximateTokens } from '../budget.js';
import { ParleyError } from '../errors.js';
import { addAgent, withNotice } from './context/agents.js';
import { contextOf, messagesOf, withQuestion } from './context/book.js';
import type { ContextMessage, NewMessage } from './context/message.js';
import { sync, type SyncAsked } from './context/sync.js';
import { write, type Written } from './context/write.js';
import type { TeamDraft } from './draft.js';
import { type CallAnswer, done, type Refusal, refused } from './effects.js';
import type { AgentPlan } from './setup.js';

/** What an agent's turn is asked with, told as the difference to what it holds already. */
export interface ContextView {
  /** All messages, instructions first. */
  ids: number[];
  /** Those that it does not hold yet. */
  add: ContextMessage[];
}

/** The view, or why what was written has no room. */
export type ContextRead = { view: ContextView } | { refused: string; code: 'context_full' | 'EBUDGET' };

/** An answer of the context as a refusal of the team: what is no fault of who asked is thrown on. */
const orRefused = <T>(act: () => T): T | Refusal => {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { code, message } = error;
    if (code !== 'conflict' && code !== 'invalid_request' && code !== 'not_found') throw error;
    return refused(code, message);
  }
};

/** What an agent is given to know, as a message of its context. */
const toKnow = (content: string): NewMessage => ({
  role: 'user',
  category: 'context',
  content: `To know, not to answer:\n${content}`,
});

/** Gives an agent something to know, whatever it does now: a turn of it reads it before its next call. @returns why not; null: it is there */
export const tellToKnow = ({ team }: TeamDraft, agentId: string, content: string): string | null => {
  const written = write(team.contexts, agentId, [toKnow(content)], approximateTokens);
  if (!written.ok) return written.message;
  team.contexts = written.book;
  return null;
};

/**
 * Gives an agent that is spawned its context (details 3.3). Its instructions stand there where it has messages of its own; who shares
 * a session is told them aside, as they are not the other's. null: it has one now; else why it cannot, with nothing changed.
 */
export const openContext = ({ team }: TeamDraft, plan: AgentPlan): Refusal | null => {
  const { agentId, instructions, context = [], sharing } = plan;
  const answer = orRefused(() => {
    const book = addAgent(team.contexts, plan, team.setup.windowTokens);
    const isTold = sharing.sessionOf !== null || instructions.trim() === '';
    const messages = [...(isTold ? [] : [{ role: 'system' as const, content: instructions }]), ...context.map(toKnow)];
    if (messages.length === 0) return { book };
    const written = write(book, agentId, messages, approximateTokens);
    return written.ok ? { book: written.book } : refused('invalid_request', written.message);
  });
  if ('ok' in answer) return answer;
  team.contexts = answer.book;
  return null;
};

/** Copies messages from one agent to another; both have to be of the team. */
export const syncContexts = ({ team }: TeamDraft, asked: SyncAsked): CallAnswer => {
  const answer = orRefused(() => sync(team.contexts, asked));
  if ('ok' in answer) return answer;
  const { book, copied, removed, dropped, note } = answer;
  team.contexts = book;
  return done([asked.child], { notes: note === null ? [] : [note], synced: { copied, removed, dropped } });
};

/** What a tool's result at least keeps, in characters: less says nothing. */
const leastKept = 400;

const cut = ({ content }: NewMessage, characters: number): string => {
  const note = `\n[cut: ${characters} of ${content.length} characters; ask for less at a time]`;
  return `${content.slice(0, characters)}${note}`;
};

/** Writes what a turn brings; tool results that do not fit are cut, the longest first, until they do. */
const writeFitting = (draft: TeamDraft, agentId: string, wrote: readonly NewMessage[]): Written => {
  const { contexts } = draft.team;
  let messages = [...wrote];
  for (;;) {
    const written = write(contexts, agentId, messages, approximateTokens);
    if (written.ok) return written;
    const [longest] = messages
      .filter(({ resultOf, content }) => resultOf !== undefined && content.length > 2 * leastKept)
      .toSorted((a, b) => b.content.length - a.content.length);
    if (!longest) return written;
    // A token is four characters here; the note that it was cut takes some, too.
    const kept = Math.max(leastKept, Math.floor(longest.content.length - written.overBy * 4 - 100));
    const shorter = { ...longest, content: cut(longest, Math.min(kept, Math.floor(longest.content.length / 2))) };
    messages = messages.map((message) => (message === longest ? shorter : message));
  }
};

/** What a turn leaves at its end. An answer that has no room is the agent's result all the same; its context says that it is not there. */
export const leaveInContext = (draft: TeamDraft, agentId: string, wrote: readonly NewMessage[]): void => {
  const { team } = draft;
  if (wrote.length === 0 || !contextOf(team.contexts, agentId)) return;
  const written = writeFitting(draft, agentId, wrote);
  team.contexts = written.ok
    ? written.book
    : withNotice(team.contexts, agentId, `what it said last: ${written.message}`);
};

/** Writes to an agent's context and reads it as it is then; `has`: messages that whoever reads it holds. */
export const writeAndRead = (
  draft: TeamDraft,
  agentId: string,
  wrote: readonly NewMessage[],
  has: readonly number[],
): ContextRead => {
  const { team } = draft;
  const written = wrote.length === 0 ? null : writeFitting(draft, agentId, wrote);
  if (written && !written.ok) return { refused: written.message, code: 'context_full' };
  if (written) team.contexts = written.book;
  const messages = messagesOf(team.contexts, agentId);
  const held = new Set(has);
  return {
    view: {
      ids: messages.map(({ messageId }) => messageId),
      add: messages.filter(({ messageId }) => !held.has(messageId)),
    },
  };
};

/** What a turn is asked first, in its context, where it stays as long as the turn runs: a long one would else forget its task first. */
export const askInContext = (
  draft: TeamDraft,
  agentId: string,
  { content, by, channel }: { content: string; by: string | null; channel?: string },
): ContextRead => {
  const on = channel === undefined ? '' : ` (${channel})`;
  const question: NewMessage = { role: 'user', content: by === null ? content : `${by} asks${on}:\n${content}` };
  const messageId = draft.team.contexts.next;
  const read = writeAndRead(draft, agentId, [question], []);
  if ('view' in read) draft.team.contexts = withQuestion(draft.team.contexts, agentId, messageId);
  return read;
};

/** What an agent was asked is a message as any other once its turn has ended. */
export const leaveQuestion = ({ team }: TeamDraft, agentId: string): void => {
  if (contextOf(team.contexts, agentId)?.question !== undefined)
    team.contexts = withQuestion(team.contexts, agentId, null);
};
