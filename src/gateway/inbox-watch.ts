import { setTimeout as delay } from 'node:timers/promises';
import type { InboxItem } from '../contracts/inbox.js';
import type { WorkItem } from '../contracts/work.js';
import type { Inbox, InboxFilter } from './inbox.js';
import { Notices } from './notices.js';
import { gatewayStops, type SseMessage } from './sse.js';

export interface InboxWatchOptions {
  /** Milliseconds between two looks while somebody watches. */
  pollMs: number;
  /** Milliseconds a client waits before it connects again. */
  retryMs: number;
  onError: (error: unknown) => void;
}

const defaults: InboxWatchOptions = { pollMs: 1_000, retryMs: 1_000, onError: () => {} };

/** Items that are looked at again in one look although nobody said that they changed, those that were not for longest. */
const againAtOnce = 20;
/** Milliseconds in which none is looked at twice. */
const keptForMs = 5_000;

const keyOf = ({ work_id: id, request }: InboxItem): string => `${id} ${request.request_id}`;
/** What of an item may change while it is open. */
const markOf = ({ approvals, may_answer: people }: InboxItem): string => JSON.stringify([approvals, people]);

/**
 * Live inboxes: one look at a time for everybody who watches here, and none where nobody does. Each client is sent what differs
 * from what it has, so that a slow one gets fewer messages and never wrong ones.
 */
export class InboxWatch {
  #shown: ReadonlyMap<string, InboxItem> | null = null;
  /** Who watches, and what. */
  readonly #watching = new Map<() => void, InboxFilter>();
  #stop: AbortController | null = null;
  readonly #options: InboxWatchOptions;

  constructor(
    private readonly inbox: Inbox,
    options: Partial<InboxWatchOptions> = {},
  ) {
    this.#options = { ...defaults, ...options };
  }

  /** Clients that watch now. */
  get watchers(): number {
    return this.#watching.size;
  }

  /** Everything open as `added`, then `ready`, then what is added, changed and removed. */
  async *watch(
    filter: InboxFilter,
    { signal, draining }: { signal: AbortSignal; draining: AbortSignal },
  ): AsyncGenerator<SseMessage> {
    const notices = new Notices(signal, draining);
    const sent = new Map<string, { item: InboxItem; mark: string }>();
    let isReady = false;
    this.#watching.set(notices.notice, filter);
    this.#begin();
    try {
      yield { retry: this.#options.retryMs, comment: 'parley' };
      while (!signal.aborted) {
        notices.looks();
        const shown = this.#shown;
        if (shown) {
          for (const message of differences(sent, shown, filter)) yield message;
          if (!isReady) yield { event: 'ready', data: { open: sent.size } };
          isReady = true;
        }
        if (draining.aborted) {
          yield gatewayStops;
          return;
        }
        await notices.next();
      }
    } finally {
      notices.close();
      this.#watching.delete(notices.notice);
      if (this.#watching.size === 0) this.#end();
    }
  }

  /** Takes note at once of what was answered here: `isClosed` where nobody else is asked. */
  async takeAnswered(
    work: Pick<WorkItem, 'id' | 'kind' | 'tenant'>,
    requestId: string,
    isClosed: boolean,
  ): Promise<void> {
    this.inbox.forget(work.id, requestId);
    if (!this.#shown) return;
    if (!isClosed) await this.inbox.read(work);
    if (!this.#shown) return;
    const item = this.inbox.item(work.id);
    const others = [...this.#shown].filter(([, each]) => each.work_id !== work.id);
    this.#show(new Map(item ? [...others, [keyOf(item), item]] : others));
  }

  #begin(): void {
    if (this.#stop) return;
    this.#stop = new AbortController();
    void this.#keepLooking(this.#stop.signal);
  }

  #end(): void {
    this.#stop?.abort();
    this.#stop = null;
    this.#shown = null;
  }

  async #keepLooking(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        const waiting = await this.#waiting();
        await this.inbox.readAll(waiting, Infinity);
        await this.inbox.readAll(this.inbox.longestKept(waiting, againAtOnce), keptForMs);
        if (stop.aborted) return;
        const items = waiting.flatMap(({ id }) => this.inbox.item(id) ?? []);
        this.#show(new Map(items.map((item) => [keyOf(item), item])));
      } catch (error) {
        // Temporal may be away for a while; the next look asks again and the streams stay open.
        this.#options.onError(error);
      }
      await delay(this.#options.pollMs, undefined, { signal: stop }).catch(() => undefined);
    }
  }

  /** What waits in every tenant that somebody watches. */
  async #waiting(): Promise<WorkItem[]> {
    const tenants = new Set([...this.#watching.values()].map(({ tenant }) => tenant));
    const scans = tenants.has(undefined) ? [undefined] : [...tenants];
    return (await Promise.all(scans.map((tenant) => this.inbox.waiting({ tenant })))).flat();
  }

  #show(items: ReadonlyMap<string, InboxItem>): void {
    const before = this.#shown;
    this.#shown = items;
    const isSame =
      before?.size === items.size &&
      [...items].every(([key, item]) => {
        const known = before.get(key);
        return known !== undefined && markOf(known) === markOf(item);
      });
    if (!isSame) for (const wake of this.#watching.keys()) wake();
  }
}

/** What brings a client from what it was sent to what is open now; notes it as sent. */
function* differences(
  sent: Map<string, { item: InboxItem; mark: string }>,
  shown: ReadonlyMap<string, InboxItem>,
  { kind, tenant }: InboxFilter,
): Generator<SseMessage> {
  for (const [key, { item }] of sent) {
    if (shown.has(key)) continue;
    sent.delete(key);
    yield { event: 'removed', data: { work_id: item.work_id, request_id: item.request.request_id } };
  }
  for (const [key, item] of shown) {
    if ((kind ?? item.kind) !== item.kind || (tenant ?? item.tenant) !== item.tenant) continue;
    const known = sent.get(key);
    const mark = markOf(item);
    if (known?.mark === mark) continue;
    sent.set(key, { item, mark });
    yield { event: known ? 'changed' : 'added', data: item };
  }
}
