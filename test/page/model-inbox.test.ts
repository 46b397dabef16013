import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Item {
  work_id: string;
  about: string;
  request: {
    request_id: string;
    opened_at: string;
    type: string;
    digest: string | null;
    options: { value: string; label: string; effect: string }[];
  };
}
interface Inbox {
  items: Item[];
  selected: string | null;
  isReady: boolean;
  gone: Item | null;
}
interface InboxModel {
  createInbox: () => Inbox;
  beginInbox: (inbox: Inbox) => void;
  takeMessage: (inbox: Inbox, message: { event: string; data: object }) => void;
  takeAnswered: (inbox: Inbox, key: string) => void;
  moveBy: (inbox: Inbox, step: number) => void;
  positionOf: (inbox: Inbox) => number;
  keyOf: (item: Item) => string;
  choiceFor: (item: Item, key: string) => { value: string } | null;
  needsWords: (item: Item, choice: string) => boolean;
  answerOf: (item: Item, answer: { choice: string | null; words: string; limits?: object }) => object;
}
const page = (await import(pathToFileURL(resolve('src/page/inbox-model.js')).href)) as InboxModel;

const item = (id: string, at: number, over: Partial<Item['request']> = {}): Item => ({
  work_id: id,
  about: id,
  request: {
    request_id: `fr-${id}`,
    opened_at: new Date(at * 1_000).toISOString(),
    type: 'approval',
    digest: 'd',
    options: ['approve', 'request_changes', 'reject'].map((value) => ({ value, label: value, effect: '' })),
    ...over,
  },
});
const added = (each: Item) => ({ event: 'added', data: each });
const removed = (id: string) => ({ event: 'removed', data: { work_id: id, request_id: `fr-${id}` } });
const ready = { event: 'ready', data: {} };
const opened = (...items: Item[]): Inbox => {
  const inbox = page.createInbox();
  page.beginInbox(inbox);
  for (const message of [...items.map(added), ready]) page.takeMessage(inbox, message);
  return inbox;
};
const ids = ({ items }: Inbox): string[] => items.map(({ work_id: id }) => id);

describe('the inbox on the page', () => {
  test('has the oldest first, in whatever order they come, and looks at it', () => {
    const inbox = opened(item('b', 2), item('c', 3), item('a', 1));
    expect([ids(inbox), inbox.selected, page.positionOf(inbox)]).toEqual([['a', 'b', 'c'], 'a fr-a', 1]);
  });

  test('stays on what is looked at while others come and go', () => {
    const inbox = opened(item('b', 2), item('d', 4));
    page.moveBy(inbox, 1);
    for (const message of [added(item('a', 1)), added(item('c', 3)), removed('b')]) page.takeMessage(inbox, message);
    expect([ids(inbox), inbox.selected, inbox.gone]).toEqual([['a', 'c', 'd'], 'd fr-d', null]);
  });

  test('goes on to what takes the place of what is answered, and back at the end', () => {
    const inbox = opened(item('a', 1), item('b', 2), item('c', 3));
    page.moveBy(inbox, 1);
    page.takeAnswered(inbox, 'b fr-b');
    expect(inbox.selected).toBe('c fr-c');
    page.takeAnswered(inbox, 'c fr-c');
    expect(inbox.selected).toBe('a fr-a');
    page.takeAnswered(inbox, 'a fr-a');
    expect([inbox.selected, inbox.items, page.positionOf(inbox)]).toEqual([null, [], 0]);
  });

  test('says what was closed elsewhere while it was looked at', () => {
    const inbox = opened(item('a', 1), item('b', 2));
    page.takeMessage(inbox, removed('a'));
    expect([inbox.gone?.work_id, inbox.selected]).toEqual(['a', 'b fr-b']);
  });

  test('does not bring back what was answered here and waits for others', () => {
    const inbox = opened(item('a', 1), item('b', 2));
    page.takeAnswered(inbox, 'a fr-a');
    page.takeMessage(inbox, { event: 'changed', data: item('a', 1) });
    expect(ids(inbox)).toEqual(['b']);
  });

  test('drops after a reconnect what is open no more', () => {
    const inbox = opened(item('a', 1), item('b', 2));
    page.beginInbox(inbox);
    for (const message of [added(item('b', 2)), added(item('c', 3))]) page.takeMessage(inbox, message);
    expect(ids(inbox)).toEqual(['a', 'b', 'c']);
    page.takeMessage(inbox, ready);
    expect([ids(inbox), inbox.selected]).toEqual([['b', 'c'], 'b fr-b']);
  });

  test.each<[number, string]>([
    [1, 'b'],
    [-1, 'a'],
    [Infinity, 'c'],
    [-Infinity, 'a'],
    [7, 'c'],
  ])('moves by %d to %s and stays within', (step, id) => {
    const inbox = opened(item('a', 1), item('b', 2), item('c', 3));
    page.moveBy(inbox, step);
    expect(inbox.selected).toBe(`${id} fr-${id}`);
  });

  test.each<[string, string | undefined]>([
    ['a', 'approve'],
    ['r', 'reject'],
    ['c', 'request_changes'],
    ['2', 'request_changes'],
    ['4', undefined],
    ['z', undefined],
  ])('takes the key %s for %s', (key, value) => {
    expect(page.choiceFor(item('a', 1), key)?.value).toBe(value);
  });

  test('asks for words where changes are wanted, and where the answer is free text', () => {
    expect(['approve', 'request_changes'].map((choice) => page.needsWords(item('a', 1), choice))).toEqual([
      false,
      true,
    ]);
    expect(page.needsWords(item('a', 1, { type: 'input', options: [] }), '')).toBe(true);
  });

  test('answers for exactly what was shown', () => {
    const bound = { work_id: 'a', request_id: 'fr-a' };
    expect(page.answerOf(item('a', 1), { choice: 'reject', words: ' no ' })).toEqual({
      ...bound,
      response: 'reject',
      digest: 'd',
      comment: 'no',
    });
    const input = item('a', 1, { type: 'input', options: [], digest: null });
    expect(page.answerOf(input, { choice: null, words: ' blue ' })).toEqual({ ...bound, response: 'blue' });
  });

  test('gives the limits that were written, with an approval alone', () => {
    const given = (choice: string, limits: object): object =>
      page.answerOf(item('a', 1), { choice, words: '', limits });
    expect(given('approve', { max_usd: '2.5', max_tokens: ' ' })).toMatchObject({ limits: { max_usd: 2.5 } });
    expect(given('approve', { max_seconds: '600' })).toMatchObject({ limits: { max_seconds: 600 } });
    expect(given('approve', { max_usd: '' })).not.toHaveProperty('limits');
    expect(given('reject', { max_usd: '2.5' })).not.toHaveProperty('limits');
  });
});
