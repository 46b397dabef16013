import { ParleyError } from '../../errors.js';
import type { SharingPlan } from '../setup.js';
import {
  type AgentContext,
  type ContextBook,
  contextOf,
  entriesOf,
  knownContext,
  sessionOf,
  type SessionRecord,
  swept,
  windowOf,
} from './book.js';
import { trim } from './trim.js';

const quoted = (text: string): string => JSON.stringify(text);

/** What an agent that does not share a session begins with: copies of its parent's system and context messages. */
const inherited = (book: ContextBook, from: AgentContext | undefined): number[] =>
  from
    ? entriesOf(book, sessionOf(book, from))
        .filter(({ category }) => category === 'system' || category === 'context')
        .map(({ messageId }) => messageId)
    : [];

const limitOf = (book: ContextBook, agent: AgentContext | undefined): number | null =>
  agent ? windowOf(book, sessionOf(book, agent)).limit : null;

const isClamped = (asked: number | null, parents: number | null): boolean =>
  asked !== null && parents !== null && asked > parents;

/** Why an agent cannot have the context that it asks for. @throws ParleyError conflict, invalid_request, not_found. */
const check = (book: ContextBook, agentId: string, parent: string | null, sharing: SharingPlan): void => {
  if (contextOf(book, agentId)) throw new ParleyError('conflict', `agent ${quoted(agentId)} has a context already`);
  for (const named of [parent, sharing.sessionOf, sharing.windowOf]) {
    if (named === agentId)
      throw new ParleyError(
        'invalid_request',
        `agent ${quoted(agentId)} can be neither its own parent nor share with itself`,
      );
    if (named !== null) knownContext(book, named);
  }
  if (sharing.sessionOf === null || sharing.windowOf === null || sharing.sessionOf === sharing.windowOf) return;
  const whose = sessionOf(book, knownContext(book, sharing.sessionOf)).windowId;
  if (sessionOf(book, knownContext(book, sharing.windowOf)).windowId === whose) return;
  const message = `agent ${quoted(agentId)} cannot share the session of ${quoted(sharing.sessionOf)} and the window of ${quoted(sharing.windowOf)}: a session brings its window`;
  throw new ParleyError('invalid_request', message);
};

const withAgent = (book: ContextBook, agent: AgentContext): ContextBook => ({
  ...book,
  agents: [...book.agents, agent],
});

/** Notes something on an agent's context, of which the last 20 are kept. */
export const withNotice = (book: ContextBook, agentId: string | null, notice: string): ContextBook => ({
  ...book,
  agents: book.agents.map((agent) =>
    agent.agentId === agentId ? { ...agent, notices: [...agent.notices, notice].slice(-20) } : agent,
  ),
});

/** A session that begins with what the agent inherits; trimmed where its window is too small for that. */
const withOwnSession = (
  book: ContextBook,
  agent: Omit<AgentContext, 'sessionId'>,
  from: AgentContext | undefined,
  windowId: number,
): ContextBook => {
  const session: SessionRecord = { sessionId: book.next, windowId, entries: inherited(book, from) };
  const added = withAgent(
    { ...book, sessions: [...book.sessions, session], next: book.next + 1 },
    { ...agent, sessionId: session.sessionId },
  );
  const trimmed = trim(added, windowOf(added, session), new Set());
  if (trimmed.fits) return trimmed.book;
  const message = `agent ${quoted(agent.agentId)} cannot begin: its parent's system messages are ${trimmed.overBy} tokens more than its window holds; raise shared_context_window_max_tokens`;
  throw new ParleyError('invalid_request', message);
};

/**
 * Gives an agent its context (details 3.3): the session of another, a session of its own in the window of another, or both of its
 * own, with a limit of at most its parent's.
 * @throws ParleyError conflict, invalid_request, not_found; the book is as it was then.
 */
export const addAgent = (
  book: ContextBook,
  { agentId, parent, sharing }: { agentId: string; parent: string | null; sharing: SharingPlan },
  presetLimit: number | null = null,
): ContextBook => {
  check(book, agentId, parent, sharing);
  const { sessionOf: whoseSession, windowOf: whoseWindow, maxTokens } = sharing;
  const of = contextOf(book, parent ?? whoseWindow ?? '');
  const shares = whoseSession ?? whoseWindow;
  if (shares !== null) {
    const other = knownContext(book, shares);
    const agent = { agentId, parent, notices: [] };
    const shared =
      whoseSession === null
        ? withOwnSession(book, agent, of, sessionOf(book, other).windowId)
        : withAgent(book, { ...agent, sessionId: other.sessionId });
    if (maxTokens === null) return shared;
    return withNotice(shared, agentId, `${maxTokens} tokens have no effect: it shares the window of ${quoted(shares)}`);
  }
  const parents = of ? limitOf(book, of) : presetLimit;
  const limit = isClamped(maxTokens, parents) ? parents : (maxTokens ?? parents);
  const windowId = book.next;
  const opened = { ...book, windows: [...book.windows, { windowId, limit, trimmed: 0 }], next: book.next + 1 };
  const added = withOwnSession(opened, { agentId, parent, notices: [] }, of, windowId);
  if (!isClamped(maxTokens, parents)) return added;
  const notice = `the window of ${quoted(agentId)} was clamped from ${maxTokens} to ${parents} tokens, the most that it may have here`;
  return withNotice(withNotice(added, agentId, notice), parent, notice);
};

/** Takes an agent out; what it alone held is gone, and its children are its parent's. An unknown one changes nothing. */
export const removeAgent = (book: ContextBook, agentId: string): ContextBook => {
  const gone = contextOf(book, agentId);
  if (!gone) return book;
  const agents = book.agents
    .filter((agent) => agent !== gone)
    .map((agent) => (agent.parent === agentId ? { ...agent, parent: gone.parent } : agent));
  return swept({ ...book, agents });
};
