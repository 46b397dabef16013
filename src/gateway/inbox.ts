import { setTimeout as delay } from 'node:timers/promises';
import type { AskedItem, InboxItem, InboxList } from '../contracts/inbox.js';
import type { Kind, WorkItem } from '../contracts/work.js';
import { ParleyError } from '../domain/errors.js';
import { agedItem, ageOf, inboxItem } from '../domain/inbox/asks.js';
import { comparePlaces, type InboxOrder, type InboxPlace, placeOf } from '../domain/inbox/order.js';
import { type AskingKind, askedOf } from './asking-kinds.js';
import { inParallel } from './in-parallel.js';
import type { WorkIndex } from './work-port.js';

export interface InboxFilter {
  kind?: Kind | undefined;
  tenant?: string | undefined;
}

export interface InboxPage extends InboxFilter {
  order: InboxOrder;
  /** 1–200. */
  limit: number;
  cursor?: string | undefined;
}

export interface InboxOptions {
  /** Pieces of work that are asked at the same time. */
  atOnce: number;
  /** Milliseconds after which one that does not answer holds the others back no longer; it is heard all the same. */
  answerMs: number;
  /** Milliseconds after which a list is given as far as it is known. */
  patienceMs: number;
  /** Milliseconds in which an answer that is not taken is given again. */
  givingMs: number;
}

const defaults: InboxOptions = { atOnce: 16, answerMs: 3_000, patienceMs: 10_000, givingMs: 60_000 };

/** What is shown was asked for at most so many milliseconds ago. */
const shownForMs = 1_000;
/** For the order of what is on other pages, an older answer does. */
const placedForMs = 30_000;
/** What did not answer is asked again after so many milliseconds, then after twice as many, and so on. */
const [firstRetryMs, longestRetryMs] = [10_000, 300_000];
/** For so many milliseconds after an answer the visibility store is not believed about it. */
const answeredForMs = 5_000;
/** What is answered was looked at at most so many milliseconds ago. */
const recentMs = 5_000;
/** From so many unknown pieces of work on, one look at all that waits is less than a look at each. */
export const manyUnknown = 8;
/** Most pieces of work of one name that are looked at. */
const mostCalled = 20;
/** Most pieces of work that are remembered. */
const mostKnown = 5_000;
/** Most pieces of work that one list looks at: the newest. */
const mostWaiting = 10_000;

interface Known {
  kind: Kind;
  tenant: string;
  /** null: it asks nothing. */
  item: InboxItem | null;
  /** Why it could not be asked; null: it could. */
  fault: string | null;
  /** How often in a row it could not be asked. */
  faults: number;
  readAt: number;
}

/** Milliseconds for which what is known of a piece of work need not be asked again. */
const freshFor = ({ item, faults }: Known, maxAgeMs: number): number => {
  if (faults > 0) return Math.min(firstRetryMs * 2 ** (faults - 1), longestRetryMs);
  // The visibility store says that it waits, so that it may have asked meanwhile.
  return item ? maxAgeMs : Math.min(maxAgeMs, shownForMs);
};

/** Waits for `work`, at most so many milliseconds; it goes on afterwards. */
const within = async (milliseconds: number, work: Promise<void>): Promise<void> => {
  const done = new AbortController();
  const late = delay(milliseconds, undefined, { signal: done.signal, ref: false });
  try {
    await Promise.race([work, late]);
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
};

const badCursor = (): ParleyError =>
  new ParleyError('invalid_request', 'must be the next_cursor of an earlier page in the same order', {
    details: { path: 'query.cursor' },
  });

const cursorOf = ({ openedAt, workId }: InboxPlace, order: InboxOrder): string =>
  Buffer.from(JSON.stringify([order, openedAt, workId])).toString('base64url');

/** @throws ParleyError invalid_request */
const placeAt = (cursor: string, order: InboxOrder): InboxPlace => {
  try {
    const [of, openedAt, workId] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (of === order && typeof openedAt === 'string' && typeof workId === 'string') return { openedAt, workId };
  } catch {
    // Said below like every other text that is no cursor.
  }
  throw badCursor();
};

/**
 * Every open request for feedback (spec 08 "Feedback inbox"). Temporal's visibility store tells which work waits for a person,
 * and what it has noted of what it asks; what has no note is asked itself, once, and again before it is shown. Nothing kept
 * here is a fact.
 */
export class Inbox {
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<void>>();
  /** Requests that were answered here a moment ago, by their work, oldest first. */
  readonly #answered = new Map<string, { requestId: string; at: number }>();
  /** What waited when it was last looked at, and which of all. */
  #last: (InboxFilter & { waiting: WorkItem[]; at: number }) | null = null;
  readonly #options: InboxOptions;

  constructor(
    private readonly work: Pick<WorkIndex, 'waiting' | 'list'>,
    readonly kinds: readonly AskingKind[],
    options: Partial<InboxOptions> = {},
  ) {
    this.#options = { ...defaults, ...options };
  }

  /** Milliseconds in which an answer that is not taken is given again. */
  get givingMs(): number {
    return this.#options.givingMs;
  }

  /** One page. @throws ParleyError invalid_request for a cursor that is none, unavailable */
  async list({ order, limit, cursor, ...filter }: InboxPage): Promise<InboxList> {
    const after = cursor === undefined ? null : placeAt(cursor, order);
    // Who turns pages reads on in the list of a moment ago.
    const last = after === null ? null : this.#lastOf(filter);
    const waiting = last ?? (await this.waiting(filter));
    await this.readAll(waiting, placedForMs);
    const placed = waiting.flatMap((work) => {
      const item = this.#known.get(work.id)?.item;
      return item ? [{ work, place: placeOf(item) }] : [];
    });
    const rest = placed
      .filter(({ place }) => after === null || comparePlaces(place, after, order) > 0)
      .sort((a, b) => comparePlaces(a.place, b.place, order));
    const page = rest.slice(0, limit);
    await this.readAll(
      page.map(({ work }) => work),
      shownForMs,
    );
    const end = page.at(-1);
    return {
      items: page.flatMap(({ work }) => this.item(work.id) ?? []),
      open: placed.length,
      unread: waiting.flatMap(({ id, kind }) => {
        const { item, fault } = this.#known.get(id) ?? { item: null, fault: null };
        return fault !== null && item === null ? [{ work_id: id, kind, message: fault }] : [];
      }),
      next_cursor: end && rest.length > page.length ? cursorOf(end.place, order) : null,
    };
  }

  /** Everything open, as far as it is known or answers in time, in no order. @throws ParleyError unavailable */
  async openItems(filter: InboxFilter): Promise<InboxItem[]> {
    const waiting = await this.waiting(filter);
    await this.readAll(waiting, placedForMs);
    return waiting.flatMap(({ id }) => this.item(id) ?? []);
  }

  /** Work that people call so, open or not: the newest first. @throws ParleyError unavailable */
  async called(name: string, tenant: string | undefined): Promise<WorkItem[]> {
    return (await this.work.list({ name, tenant, limit: mostCalled })).items;
  }

  /** What one piece of work asks, as a page of its own. @throws ParleyError unavailable */
  async listOne(id: string, { kind, tenant }: InboxFilter): Promise<InboxList> {
    const asks = (await askedOf(this.kinds, id))?.asks;
    const isMeant = asks && (kind ?? asks.kind) === asks.kind && (tenant ?? asks.tenant) === asks.tenant;
    const item = isMeant ? inboxItem(asks, Date.now()) : null;
    return { items: item ? [item] : [], open: item ? 1 : 0, unread: [], next_cursor: null };
  }

  /** What a piece of work asked when it was last looked at; null: nothing. */
  item(id: string): InboxItem | null {
    const item = this.#known.get(id)?.item;
    return item ? { ...item, age_ms: ageOf(item.request.opened_at, Date.now()) } : null;
  }

  /** Work that waits for a person, as the visibility store has it, which may lag by a moment. @throws ParleyError unavailable */
  async waiting({ kind, tenant }: InboxFilter): Promise<WorkItem[]> {
    const waiting: WorkItem[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.work.waiting({ kind, tenant, cursor });
      for (const { work, asked } of page.items) {
        waiting.push(work);
        if (asked) this.#take(work, asked);
      }
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && waiting.length < mostWaiting);
    const ids = new Set(waiting.map(({ id }) => id));
    for (const [id, known] of this.#known) {
      const isOfThese = (kind ?? known.kind) === known.kind && (tenant ?? known.tenant) === known.tenant;
      if (isOfThese && !ids.has(id)) this.#known.delete(id);
    }
    this.#last = { kind, tenant, waiting, at: Date.now() };
    return waiting;
  }

  #lastOf({ kind, tenant }: InboxFilter): WorkItem[] | null {
    const last = this.#last;
    const isRecent = last !== null && Date.now() - last.at < recentMs;
    return isRecent && last.kind === kind && last.tenant === tenant ? last.waiting : null;
  }

  /** Asks those of `waiting` that were not asked within `maxAgeMs`, as far as patience reaches. */
  async readAll(waiting: readonly WorkItem[], maxAgeMs: number): Promise<void> {
    const { atOnce, answerMs, patienceMs } = this.#options;
    const now = Date.now();
    const isStale = ({ id }: WorkItem): boolean => {
      const known = this.#known.get(id);
      return !known || now - known.readAt >= freshFor(known, maxAgeMs);
    };
    await inParallel(waiting.filter(isStale), atOnce, async (work) => {
      const leftMs = Math.min(answerMs, now + patienceMs - Date.now());
      if (leftMs > 0) await within(leftMs, this.read(work));
      if (!this.#known.has(work.id)) this.#keep(work, { item: null, fault: 'It has not answered yet; list again.' });
    });
  }

  /** At most `most` of `waiting`, those first that were not asked for longest. */
  longestKept(waiting: readonly WorkItem[], most: number): WorkItem[] {
    const readAt = ({ id }: WorkItem): number => this.#known.get(id)?.readAt ?? 0;
    return waiting.toSorted((a, b) => readAt(a) - readAt(b)).slice(0, most);
  }

  /** This request was answered: what the work asks now, it has to be asked, as the visibility store may not know it yet. */
  forget(id: string, requestId: string): void {
    this.#known.delete(id);
    this.#answered.delete(id);
    this.#answered.set(id, { requestId, at: Date.now() });
    for (const [oldest, { at }] of this.#answered) {
      if (this.#answered.size <= mostKnown && Date.now() - at < answeredForMs) return;
      this.#answered.delete(oldest);
    }
  }

  /** What a piece of work asks, where it was looked at just now; null: nothing, or it has to be asked. */
  recentItem(id: string): InboxItem | null {
    const known = this.#known.get(id);
    return known && Date.now() - known.readAt < recentMs ? this.item(id) : null;
  }

  /** What the work has noted, unless it was answered here a moment ago: then only the work itself knows. */
  #take(work: WorkItem, asked: AskedItem): void {
    const answered = this.#answered.get(work.id);
    const isOld = answered?.requestId === asked.request.request_id && Date.now() - answered.at < answeredForMs;
    if (!isOld) this.#keep(work, { item: agedItem(asked, Date.now()), fault: null });
  }

  /** Asks one piece of work anew; whoever asks at the same time shares the answer. */
  async read(work: Pick<WorkItem, 'id' | 'kind' | 'tenant'>): Promise<void> {
    let reading = this.#reading.get(work.id);
    if (!reading) {
      reading = this.#ask(work).finally(() => this.#reading.delete(work.id));
      this.#reading.set(work.id, reading);
    }
    await reading;
  }

  async #ask(work: Pick<WorkItem, 'id' | 'kind' | 'tenant'>): Promise<void> {
    const asking = this.kinds.find(({ kind }) => kind === work.kind);
    if (!asking) return this.#keep(work, { item: null, fault: `This gateway cannot show what a ${work.kind} asks.` });
    try {
      this.#keep(work, { item: inboxItem(await asking.asks(work.id), Date.now()), fault: null });
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      if (error.code === 'not_found') return this.#keep(work, { item: null, fault: null });
      // A worker that is away for a moment takes nothing out of the inbox.
      this.#keep(work, { item: this.#known.get(work.id)?.item ?? null, fault: error.message });
    }
  }

  #keep({ id, kind, tenant }: Pick<WorkItem, 'id' | 'kind' | 'tenant'>, read: Pick<Known, 'item' | 'fault'>): void {
    const faults = read.fault === null ? 0 : (this.#known.get(id)?.faults ?? 0) + 1;
    this.#known.delete(id);
    this.#known.set(id, { kind, tenant, ...read, faults, readAt: Date.now() });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostKnown) return;
      this.#known.delete(oldest);
    }
  }
}
