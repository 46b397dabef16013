import type { ContextCategory } from '../../../contracts/team.js';
import type { ContextInfo } from '../../../contracts/team-status.js';
import {
  type AgentContext,
  type ContextBook,
  contextOf,
  entriesOf,
  messagesOfWindow,
  sessionOf,
  tokensOf,
  windowOf,
} from './book.js';

const windowIdOf = (book: ContextBook, agent: AgentContext): number => sessionOf(book, agent).windowId;

/** Whether two agents look at one window. An agent shares with itself; who is unknown shares with nobody (details 3.3). */
export const sharesWindow = (book: ContextBook, a: string, b: string): boolean => {
  const [one, other] = [contextOf(book, a), contextOf(book, b)];
  return one !== undefined && other !== undefined && windowIdOf(book, one) === windowIdOf(book, other);
};

/** All others of an agent's window, however they came to it. */
export const sharersOf = (book: ContextBook, agentId: string): string[] =>
  book.agents.map((agent) => agent.agentId).filter((id) => id !== agentId && sharesWindow(book, agentId, id));

const statsOf = (book: ContextBook, agent: AgentContext): NonNullable<ContextInfo['stats']> => {
  const session = sessionOf(book, agent);
  const { windowId, limit, trimmed } = windowOf(book, session);
  const used = tokensOf(messagesOfWindow(book, windowId));
  const held = new Set(
    book.agents
      .filter((other) => other !== agent && windowIdOf(book, other) === windowId)
      .flatMap((other) => sessionOf(book, other).entries),
  );
  const messages = entriesOf(book, session);
  const counts: Record<ContextCategory, number> = { system: 0, context: 0, dialog: 0, tool: 0 };
  for (const { category } of messages) counts[category] += 1;
  return {
    limit_tokens: limit,
    used_tokens: used,
    free_tokens: limit === null ? null : Math.max(0, limit - used),
    base_tokens: tokensOf(messages.filter(({ messageId }) => held.has(messageId))),
    own_tokens: tokensOf(messages.filter(({ messageId }) => !held.has(messageId))),
    messages: counts,
    trimmed_messages: trimmed,
  };
};

/** What `get_context_info` answers of an agent; null: it is unknown (details 3.3). */
export const contextInfo = (book: ContextBook, agentId: string, includeStats: boolean): ContextInfo | null => {
  const agent = contextOf(book, agentId);
  if (!agent) return null;
  const parent = agent.parent === null ? undefined : contextOf(book, agent.parent);
  const children = book.agents.filter((other) => other.parent === agentId).map((other) => other.agentId);
  return {
    agent_id: agentId,
    has_window: true,
    parent: agent.parent,
    shares_with_parent: parent !== undefined && sharesWindow(book, agentId, parent.agentId),
    shares_session_with_parent: parent?.sessionId === agent.sessionId,
    shares_with: sharersOf(book, agentId),
    children,
    children_sharing: children.filter((id) => sharesWindow(book, agentId, id)),
    stats: includeStats ? statsOf(book, agent) : null,
    notices: agent.notices,
  };
};
