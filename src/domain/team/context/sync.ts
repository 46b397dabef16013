import type { ContextCategory } from '../../../contracts/team.js';
import { ParleyError } from '../../errors.js';
import { type ContextBook, entriesOf, knownContext, sessionOf, swept, windowOf, withSession } from './book.js';
import { type ContextMessage, groupsOf } from './message.js';
import { trim } from './trim.js';

export interface SyncAsked {
  parent: string;
  child: string;
  categories: readonly ContextCategory[];
  replace: boolean;
}

export interface Synced {
  book: ContextBook;
  /** Messages. */
  copied: number;
  removed: number;
  dropped: number;
  /** null: nothing is to be said. */
  note: string | null;
}

/** Messages of the categories, calls only with all their results. */
const chosen = (messages: readonly ContextMessage[], categories: readonly ContextCategory[]): ContextMessage[] =>
  groupsOf(messages)
    .filter(({ isComplete, messages: [first] }) => isComplete && first && categories.includes(first.category))
    .flatMap((group) => group.messages);

/**
 * Copies messages of some categories from one agent to another (details 3.2). Without `replace` they are added to what is there, so
 * that doing it twice leaves them there twice, but for calls, of which a context holds each once. With it the child first loses
 * what it has of these categories. What is copied is held in common until one of the two writes it anew.
 * @throws ParleyError not_found, invalid_request; the book is as it was then.
 */
export const sync = (book: ContextBook, { parent, child, categories, replace }: SyncAsked): Synced => {
  const from = sessionOf(book, knownContext(book, parent));
  const to = sessionOf(book, knownContext(book, child));
  if (parent === child)
    throw new ParleyError(
      'invalid_request',
      `agent ${JSON.stringify(child)} cannot be synced with itself; name another`,
    );
  if (from.sessionId === to.sessionId) {
    return {
      book,
      copied: 0,
      removed: 0,
      dropped: 0,
      note: `${parent} and ${child} share one session: there is nothing to copy`,
    };
  }
  const lost = new Set(replace ? chosen(entriesOf(book, to), categories).map(({ messageId }) => messageId) : []);
  const kept = to.entries.filter((id) => !lost.has(id));
  const held = new Set(kept);
  const calls = new Set(kept.flatMap((id) => book.messages[id]?.calls ?? []));
  const messages = { ...book.messages };
  let { next } = book;
  const copies: number[] = [];
  for (const message of chosen(entriesOf(book, from), categories)) {
    const isKnown =
      message.calls.some((call) => calls.has(call)) || (message.resultOf !== null && calls.has(message.resultOf));
    if (isKnown) continue;
    if (!held.has(message.messageId)) {
      copies.push(message.messageId);
      continue;
    }
    // A second copy in one session is a message of its own, and counts as one.
    messages[next] = { ...message, messageId: next };
    copies.push(next);
    next += 1;
  }
  const changed = withSession({ ...book, messages, next }, { ...to, entries: [...kept, ...copies] });
  const trimmed = trim(changed, windowOf(changed, to), new Set(copies));
  if (!trimmed.fits) {
    const message = `agent ${JSON.stringify(child)} has no room for this: ${trimmed.overBy} tokens too many; ask for fewer categories`;
    throw new ParleyError('invalid_request', message);
  }
  const { dropped } = trimmed;
  return { book: swept(trimmed.book), copied: copies.length, removed: lost.size, dropped: dropped.length, note: null };
};
