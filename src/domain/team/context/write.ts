import { ParleyError } from '../../errors.js';
import { type ContextBook, knownContext, sessionOf, swept, windowOf, withSession } from './book.js';
import { categoryOf, type ContextMessage, type CountTokens, type NewMessage } from './message.js';
import { trim } from './trim.js';

export type Written =
  | { ok: true; book: ContextBook; messageIds: number[]; dropped: number[] }
  /** Nothing was written. */
  | { ok: false; message: string; overBy: number };

const messageFrom = (messageId: number, given: NewMessage, count: CountTokens): ContextMessage => ({
  messageId,
  category: categoryOf(given),
  role: given.role,
  content: given.content,
  tokens: count(given.content) + (given.made ? count(JSON.stringify(given.made)) : 0),
  calls: [...(given.calls ?? [])],
  ...(given.made && { made: [...given.made] }),
  resultOf: given.resultOf ?? null,
});

/**
 * Adds messages to an agent's session, and so to that of all who share it; where the window is full the oldest are dropped. What does
 * not fit even so is refused as a whole, to be shortened.
 * @throws ParleyError not_found, for an agent without a context.
 */
export const write = (
  book: ContextBook,
  agentId: string,
  given: readonly NewMessage[],
  count: CountTokens,
): Written => {
  const session = sessionOf(book, knownContext(book, agentId));
  const added = given.map((message, index) => messageFrom(book.next + index, message, count));
  const messageIds = added.map(({ messageId }) => messageId);
  const messages = { ...book.messages };
  for (const message of added) messages[message.messageId] = message;
  const entries = [...session.entries, ...messageIds];
  const longer = withSession({ ...book, messages, next: book.next + added.length }, { ...session, entries });
  const window = windowOf(longer, session);
  const trimmed = trim(longer, window, new Set(messageIds));
  if (trimmed.fits) return { ok: true, book: trimmed.book, messageIds, dropped: trimmed.dropped };
  const message = `agent ${JSON.stringify(agentId)} has no room for this: ${trimmed.overBy} tokens more than the ${window.limit} of its window, with all dropped that may be; shorten it`;
  return { ok: false, message, overBy: trimmed.overBy };
};

/**
 * Writes a message anew for one session: others that hold it keep it as it was (copy-on-write). It stays at its place.
 * @throws ParleyError not_found, for an agent without a context, or a message that it does not hold.
 */
export const rewrite = (
  book: ContextBook,
  agentId: string,
  messageId: number,
  content: string,
  count: CountTokens,
): Written => {
  const session = sessionOf(book, knownContext(book, agentId));
  const before = book.messages[messageId];
  if (!before || !session.entries.includes(messageId))
    throw new ParleyError('not_found', `agent ${JSON.stringify(agentId)} holds no message ${messageId}`);
  const after = { ...before, messageId: book.next, content, tokens: count(content) };
  const entries = session.entries.map((id) => (id === messageId ? after.messageId : id));
  const messages = { ...book.messages, [after.messageId]: after };
  const changed = swept(withSession({ ...book, messages, next: book.next + 1 }, { ...session, entries }));
  const trimmed = trim(changed, windowOf(changed, session), new Set([after.messageId]));
  if (trimmed.fits) return { ok: true, book: trimmed.book, messageIds: [after.messageId], dropped: trimmed.dropped };
  const message = `agent ${JSON.stringify(agentId)} has no room for this: ${trimmed.overBy} tokens too many; shorten it`;
  return { ok: false, message, overBy: trimmed.overBy };
};
