// The inbox as plain data: what is open, which item is looked at, what has been answered here. The view only draws it.

export const keyOf = ({ work_id: id, request }) => `${id} ${request.request_id}`;

/**
 * `items`: open and not answered here, oldest first; `selected`: the key of one of them, or null; `gone`: the item that was
 * looked at when it was closed elsewhere.
 */
export const createInbox = () => ({
  items: [],
  selected: null,
  isReady: false,
  answered: new Set(),
  seen: new Set(),
  gone: null,
});

const order = ({ request, work_id: id }) => `${request.opened_at} ${id}`;

const place = (items, item) => {
  const index = items.findIndex((each) => order(each) > order(item));
  return index < 0 ? items.length : index;
};

/** Takes an item out; whoever looked at it looks at the one that takes its place. */
export const leave = (inbox, key) => {
  const index = inbox.items.findIndex((item) => keyOf(item) === key);
  if (index < 0) return;
  const [item] = inbox.items.splice(index, 1);
  if (inbox.selected !== key) return;
  inbox.gone = inbox.answered.has(key) ? null : item;
  const next = inbox.items[Math.min(index, inbox.items.length - 1)];
  inbox.selected = next ? keyOf(next) : null;
};

/** A connection begins: everything open comes again, and what does not is open no more. */
export const beginInbox = (inbox) => {
  inbox.seen = new Set();
};

export const takeMessage = (inbox, { event, data }) => {
  switch (event) {
    case 'added':
    case 'changed': {
      const key = keyOf(data);
      inbox.seen.add(key);
      if (inbox.answered.has(key)) return;
      const index = inbox.items.findIndex((item) => keyOf(item) === key);
      if (index >= 0) inbox.items[index] = data;
      else inbox.items.splice(place(inbox.items, data), 0, data);
      // Before the first list is whole nothing is looked at: the oldest may still come.
      if (inbox.isReady) inbox.selected ??= keyOf(inbox.items[0]);
      return;
    }
    case 'removed':
      leave(inbox, `${data.work_id} ${data.request_id}`);
      return;
    case 'ready':
      for (const key of inbox.items.map(keyOf)) if (!inbox.seen.has(key)) leave(inbox, key);
      inbox.isReady = true;
      if (inbox.items.length > 0) inbox.selected ??= keyOf(inbox.items[0]);
      return;
    default:
  }
};

export const selectedItem = ({ items, selected }) => items.find((item) => keyOf(item) === selected) ?? null;

/** The place of the item that is looked at, from 1; 0: none. */
export const positionOf = ({ items, selected }) => items.findIndex((item) => keyOf(item) === selected) + 1;

/** Looks at another item, so many places further; it stays within the list. */
export const moveBy = (inbox, step) => {
  const index = Math.max(0, Math.min(inbox.items.length - 1, positionOf(inbox) - 1 + step));
  const item = inbox.items[index];
  if (item) inbox.selected = keyOf(item);
};

/** What a person calls the work: what it is about, and where that is but a number, the kind with it. */
export const titleOf = ({ kind, name, about }) =>
  about === name ? `${kind.replace(/^./, (first) => first.toUpperCase())} ${name}` : about;

/** An answer of this person counted: it leaves, even where others have to answer as well. */
export const takeAnswered = (inbox, key) => {
  inbox.answered.add(key);
  leave(inbox, key);
};

const letters = { approve: 'a', request_changes: 'c', reject: 'r', retry: 'r', skip: 's', abort: 'x' };

/** The options of an item with the keys that choose them: a letter for those that every type has, and their number. */
export const choicesOf = ({ request }) =>
  request.options.map((option, index) => ({
    ...option,
    letter: letters[option.value] ?? null,
    number: index < 9 ? String(index + 1) : null,
  }));

export const choiceFor = (item, key) =>
  choicesOf(item).find(({ letter, number }) => letter === key || number === key) ?? null;

/** Whether an answer needs words besides the choice. */
export const needsWords = ({ request }, choice) => request.type === 'input' || choice === 'request_changes';

/** The answer to `item`, bound to exactly what was shown. */
export const answerOf = (item, { choice, words, limits = {} }) => {
  const given = choice === 'approve' ? limitsOf(limits) : {};
  return { ...plainAnswer(item, { choice, words }), ...(Object.keys(given).length > 0 && { limits: given }) };
};

/** Numbers that were written, for the limits of a budget; what is left empty is as it is proposed. */
const limitsOf = (written) =>
  Object.fromEntries(
    Object.entries(written)
      .filter(([, text]) => text.trim() !== '')
      .map(([name, text]) => [name, Number(text)]),
  );

const plainAnswer = ({ work_id, request }, { choice, words }) => ({
  work_id,
  request_id: request.request_id,
  response: request.type === 'input' ? words.trim() : choice,
  ...(request.digest && { digest: request.digest }),
  ...(request.type !== 'input' && words.trim() !== '' && { comment: words.trim() }),
});
