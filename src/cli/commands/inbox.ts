import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { InboxItem } from '../../contracts/inbox.js';
import type { InboxFilter } from '../client.js';
import type { CommandContext } from '../context.js';
import { exitCodes, UsageError } from '../errors.js';
import { isPassing, messages, silenceMs } from '../follow.js';
import { answeredLines, itemLines } from '../inbox-lines.js';

export interface InboxOptions {
  kind?: string;
  tenant?: string;
  newest?: boolean;
  all?: boolean;
  watch?: boolean;
}

/** Milliseconds before a watch that was cut connects again. */
const retryMs = 1_000;

const filterOf = ({ kind, tenant, newest }: InboxOptions): InboxFilter => ({
  ...(kind && { kind }),
  ...(tenant && { tenant }),
  ...(newest && { order: 'newest' }),
});

/** How this list is answered, and nothing that is asked after it. */
const howToAnswer = (items: readonly InboxItem[]): string => {
  const latest = items.reduce((last, { request: { opened_at: at } }) => (at > last ? at : last), '');
  return `Answer with: parley inbox answer ID RESPONSE, or lines such as "ID: approve" by parley answer - --as-of ${latest}`;
};

/** `parley inbox`: every open request for feedback, oldest first; with --watch also what comes and goes. */
export const showInbox = async (options: InboxOptions, context: CommandContext): Promise<number> => {
  if (options.watch) return await watchInbox(filterOf(options), context);
  const { client, json, out, note } = context;
  const filter = filterOf(options);
  let page = await client.inbox({ ...filter, limit: '200' });
  const items = [...page.items];
  while (options.all && page.next_cursor !== null) {
    page = await client.inbox({ ...filter, limit: '200', cursor: page.next_cursor });
    items.push(...page.items);
  }
  if (json) {
    out(JSON.stringify({ ...page, items }, null, 2));
    return exitCodes.ok;
  }
  if (items.length === 0) out('Nobody is asked anything.');
  for (const item of items) out([...itemLines(item, Date.now()), ''].join('\n'));
  for (const { work_id: id, message } of page.unread) note(`${id} waits for a person, but cannot be asked: ${message}`);
  if (page.next_cursor !== null) note(`${page.open} are open: add --all.`);
  if (items.length > 0) note(howToAnswer(items));
  return exitCodes.ok;
};

const keyOf = ({ work_id: id, request_id: request }: { work_id: string; request_id: string }): string =>
  `${id} ${request}`;

/** Tells what is open, and what comes and goes, until Ctrl-C. After a cut only what is new since is told. */
const watchInbox = async (filter: InboxFilter, context: CommandContext): Promise<number> => {
  const { client, json, out, note } = context;
  const leaving = new AbortController();
  const release = context.onInterrupt(() => leaving.abort());
  const open = new Map<string, InboxItem>();
  const say = (event: string, data: object, lines: string[]): void =>
    out(json ? JSON.stringify({ event, data }) : lines.join('\n'));
  const removed = (key: string): void => {
    const item = open.get(key);
    if (!open.delete(key) || !item) return;
    const { work_id, request } = item;
    say('removed', { work_id, request_id: request.request_id }, [`– ${work_id}: ${request.request_id} is closed`, '']);
  };
  let seen = new Set<string>();
  const hear = (name: string, data: string): void => {
    if (name === 'ready') return [...open.keys()].filter((key) => !seen.has(key)).forEach(removed);
    if (name === 'removed') return removed(keyOf(JSON.parse(data) as { work_id: string; request_id: string }));
    if (name !== 'added' && name !== 'changed') return;
    const item = JSON.parse(data) as InboxItem;
    const key = keyOf({ work_id: item.work_id, request_id: item.request.request_id });
    seen.add(key);
    const isNews = name === 'changed' || !open.has(key);
    open.set(key, item);
    if (isNews) say(name, item, [...itemLines(item, Date.now()), '']);
  };
  let wasConnected = false;
  try {
    while (!leaving.signal.aborted) {
      const connection = new AbortController();
      const leave = (): void => connection.abort();
      leaving.signal.addEventListener('abort', leave, { once: true });
      const silence = setTimeout(leave, silenceMs);
      try {
        const response = await client.inboxEvents(filter, connection.signal);
        wasConnected = true;
        seen = new Set();
        for await (const { name, data } of messages(response, () => silence.refresh())) hear(name, data);
      } catch (error) {
        if (!leaving.signal.aborted && (!wasConnected || !isPassing(error))) throw error;
      } finally {
        clearTimeout(silence);
        leaving.signal.removeEventListener('abort', leave);
        connection.abort();
      }
      if (leaving.signal.aborted) break;
      note('… the connection was closed; connecting again');
      await delay(retryMs, undefined, { signal: leaving.signal }).catch(() => undefined);
    }
  } finally {
    release();
  }
  return exitCodes.interrupted;
};

export interface GiveOptions {
  as?: string;
  /** When the list was read that is answered; what was asked since is not answered. Left out: when the file was written. */
  asOf?: string;
}

const tell = async (answers: string | unknown[], options: GiveOptions, context: CommandContext): Promise<number> => {
  const answered = await context.client.answers(answers, options);
  if (context.json) context.out(JSON.stringify(answered, null, 2));
  else {
    for (const line of answeredLines(answered)) context.out(line);
    if (answered.reprompt !== null) context.note(`\n${answered.reprompt}`);
  }
  const isNothing = answered.applied.length === 0 && answered.warnings.length > 0;
  return answered.errors.length === 0 && !isNothing ? exitCodes.ok : exitCodes.usage;
};

/** What was asked after a file was written, it does not answer. Of a pipe nothing is known. */
const writtenAt = async (path: string): Promise<string | undefined> => {
  const file = await stat(path);
  return file.isFile() ? file.mtime.toISOString() : undefined;
};

/**
 * `parley answer FILE|-`: many answers, as a JSON list or as lines. The exit code is 2 where one was refused, or none counted.
 */
export const answerMany = async (path: string, options: GiveOptions, context: CommandContext): Promise<number> => {
  let [text, asOf] = ['', options.asOf];
  try {
    text = path === '-' ? await context.readStdin() : await readFile(path, 'utf8');
    if (path !== '-') asOf ??= await writtenAt(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const given = { ...options, ...(asOf !== undefined && { asOf }) };
  return await tell(/^\s*\[/.test(text) ? listIn(text, path) : text, given, context);
};

const listIn = (text: string, path: string): unknown[] => {
  try {
    return JSON.parse(text) as unknown[];
  } catch (error) {
    throw new UsageError(
      `${path} begins as a JSON list, but is none: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
};

export interface AnswerOneOptions extends GiveOptions {
  request?: string;
  comment?: string;
}

/** `parley inbox answer ID RESPONSE`: bound to exactly what the inbox shows now by the request's id and its digest. */
export const answerOne = async (
  id: string,
  response: string,
  { request, comment, as }: AnswerOneOptions,
  context: CommandContext,
): Promise<number> => {
  const [item] = request === undefined ? (await context.client.inbox({ work_id: id })).items : [];
  const answer = {
    work_id: id,
    response,
    ...(comment === undefined ? {} : { comment }),
    ...(request === undefined ? {} : { request_id: request }),
    ...(item ? { request_id: item.request.request_id } : {}),
    ...(item?.request.digest ? { digest: item.request.digest } : {}),
  };
  return await tell([answer], as === undefined ? {} : { as }, context);
};
