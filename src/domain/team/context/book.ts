import { ParleyError } from '../../errors.js';
import type { ContextMessage } from './message.js';

/** Messages in their order, held by every agent that has this session. */
export interface SessionRecord {
  sessionId: number;
  windowId: number;
  entries: number[];
}

/** A token limit and what counts against it: the messages of all its sessions, each once. */
export interface WindowRecord {
  windowId: number;
  /** null: no limit. */
  limit: number | null;
  /** Messages dropped so far because it was full. */
  trimmed: number;
}

export interface AgentContext {
  agentId: string;
  parent: string | null;
  sessionId: number;
  notices: string[];
  /** The message that its turn answers, as long as that runs; left out: none. */
  question?: number;
}

/**
 * The contexts of all agents of a team, as plain JSON (spec 05 "Context windows"). Copy-on-write: a message stands in `messages`
 * once, and those that several sessions hold are their common base; what one session alone holds is its delta. Nothing here is
 * ever changed in place.
 */
export interface ContextBook {
  messages: Record<number, ContextMessage>;
  sessions: SessionRecord[];
  windows: WindowRecord[];
  agents: AgentContext[];
  /** The next number of a message, session or window. */
  next: number;
}

export const emptyBook: ContextBook = { messages: {}, sessions: [], windows: [], agents: [], next: 1 };

export const contextOf = (book: ContextBook, agentId: string): AgentContext | undefined =>
  book.agents.find((agent) => agent.agentId === agentId);

/** @throws ParleyError not_found, with whom there is. */
export const knownContext = (book: ContextBook, agentId: string): AgentContext => {
  const agent = contextOf(book, agentId);
  if (agent) return agent;
  const there = book.agents.map((other) => other.agentId).slice(0, 20);
  const others = there.length === 0 ? 'none has one yet' : `${there.join(', ')} have`;
  throw new ParleyError('not_found', `agent ${JSON.stringify(agentId)} has no context; ${others}`);
};

/** @throws ParleyError corrupt: a session is gone that an agent has. */
export const sessionOf = (book: ContextBook, { sessionId, agentId }: AgentContext): SessionRecord => {
  const session = book.sessions.find((other) => other.sessionId === sessionId);
  if (!session) throw new ParleyError('corrupt', `the session of agent ${agentId} is gone`);
  return session;
};

/** @throws ParleyError corrupt: a window is gone that a session has. */
export const windowOf = (book: ContextBook, { windowId }: SessionRecord): WindowRecord => {
  const window = book.windows.find((other) => other.windowId === windowId);
  if (!window) throw new ParleyError('corrupt', `context window ${windowId} is gone`);
  return window;
};

export const entriesOf = (book: ContextBook, session: SessionRecord): ContextMessage[] =>
  session.entries.flatMap((id) => book.messages[id] ?? []);

export const sessionsOf = (book: ContextBook, windowId: number): SessionRecord[] =>
  book.sessions.filter((session) => session.windowId === windowId);

/** Messages that count against a window, each once, the oldest first. */
export const messagesOfWindow = (book: ContextBook, windowId: number): ContextMessage[] =>
  [...new Set(sessionsOf(book, windowId).flatMap(({ entries }) => entries))]
    .sort((a, b) => a - b)
    .flatMap((id) => book.messages[id] ?? []);

export const tokensOf = (messages: readonly ContextMessage[]): number =>
  messages.reduce((sum, { tokens }) => sum + tokens, 0);

/** What an agent is asked with: instructions first, the rest in its order; empty for an agent that is unknown. */
export const messagesOf = (book: ContextBook, agentId: string): ContextMessage[] => {
  const agent = contextOf(book, agentId);
  const messages = agent ? entriesOf(book, sessionOf(book, agent)) : [];
  return [
    ...messages.filter(({ category }) => category === 'system'),
    ...messages.filter(({ category }) => category !== 'system'),
  ];
};

export const withSession = (book: ContextBook, session: SessionRecord): ContextBook => ({
  ...book,
  sessions: book.sessions.map((other) => (other.sessionId === session.sessionId ? session : other)),
});

/** Notes which message an agent's turn answers; null: none any more. */
export const withQuestion = (book: ContextBook, agentId: string, messageId: number | null): ContextBook => ({
  ...book,
  agents: book.agents.map((agent) => {
    if (agent.agentId !== agentId) return agent;
    const { question: _, ...rest } = agent;
    return messageId === null ? rest : { ...rest, question: messageId };
  }),
});

/** Without what nobody holds any more: sessions, windows and messages. */
export const swept = (book: ContextBook): ContextBook => {
  const sessionIds = new Set(book.agents.map(({ sessionId }) => sessionId));
  const sessions = book.sessions.filter(({ sessionId }) => sessionIds.has(sessionId));
  const windowIds = new Set(sessions.map(({ windowId }) => windowId));
  const held = new Set(sessions.flatMap(({ entries }) => entries));
  return {
    ...book,
    sessions,
    windows: book.windows.filter(({ windowId }) => windowIds.has(windowId)),
    messages: Object.fromEntries(Object.entries(book.messages).filter(([id]) => held.has(Number(id)))),
  };
};

/** Without those of some messages that no session holds any more: sweeping all for each that a full window drops takes far longer. */
export const without = (book: ContextBook, gone: ReadonlySet<number>): ContextBook => {
  const held = new Set(book.sessions.flatMap(({ entries }) => entries.filter((id) => gone.has(id))));
  const messages = { ...book.messages };
  for (const id of gone) if (!held.has(id)) delete messages[id];
  return { ...book, messages };
};
