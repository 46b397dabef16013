import {
  type ContextBook,
  entriesOf,
  messagesOfWindow,
  sessionsOf,
  tokensOf,
  type WindowRecord,
  without,
} from './book.js';
import { groupsOf, type MessageGroup } from './message.js';

export type Trimming =
  /** `dropped`: messages, the oldest first. */
  | { fits: true; book: ContextBook; dropped: number[] }
  /** Nothing has changed. `overBy`: tokens that are too many, whatever is dropped. */
  | { fits: false; overBy: number };

/** The groups of all sessions of a window; those that have a message in common are one. By their oldest message. */
const groupsOfWindow = (book: ContextBook, windowId: number): MessageGroup[] => {
  const byMessage = new Map<number, MessageGroup>();
  for (const session of sessionsOf(book, windowId)) {
    for (const group of groupsOf(entriesOf(book, session))) {
      const others = new Set(group.messages.flatMap(({ messageId }) => byMessage.get(messageId) ?? []));
      const parts = [...others, group];
      const messages = new Map(parts.flatMap((part) => part.messages).map((message) => [message.messageId, message]));
      const whole = { messages: [...messages.values()], isComplete: parts.every(({ isComplete }) => isComplete) };
      for (const id of messages.keys()) byMessage.set(id, whole);
    }
  }
  const oldest = ({ messages }: MessageGroup): number => Math.min(...messages.map(({ messageId }) => messageId));
  return [...new Set(byMessage.values())].sort((a, b) => oldest(a) - oldest(b));
};

/**
 * Drops messages of a window until its limit holds (details 3.3): the oldest first, whoever of the window holds them. System
 * messages stay, and so do `kept`, questions whose turns run, and calls whose results are still to come; a call goes with its
 * results or not at all.
 */
export const trim = (book: ContextBook, { windowId, limit }: WindowRecord, kept: ReadonlySet<number>): Trimming => {
  let over = limit === null ? 0 : tokensOf(messagesOfWindow(book, windowId)) - limit;
  if (over <= 0) return { fits: true, book, dropped: [] };
  const dropped: number[] = [];
  const stays = new Set([...kept, ...book.agents.flatMap(({ question }) => question ?? [])]);
  for (const { messages: group, isComplete } of groupsOfWindow(book, windowId)) {
    if (over <= 0) break;
    if (!isComplete || group.some(({ category, messageId }) => category === 'system' || stays.has(messageId))) continue;
    dropped.push(...group.map(({ messageId }) => messageId));
    over -= tokensOf(group);
  }
  if (over > 0) return { fits: false, overBy: over };
  const gone = new Set(dropped);
  const sessions = book.sessions.map((session) =>
    session.windowId === windowId ? { ...session, entries: session.entries.filter((id) => !gone.has(id)) } : session,
  );
  const windows = book.windows.map((window) =>
    window.windowId === windowId ? { ...window, trimmed: window.trimmed + dropped.length } : window,
  );
  return { fits: true, book: without({ ...book, sessions, windows }, gone), dropped };
};
