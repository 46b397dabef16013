import type { BusPort } from '../contracts/bus.js';
import type { NumberedEvent } from '../contracts/events.js';
import type { TextCursor } from './lane-texts.js';
import { Notices } from './notices.js';
import { gatewayStops, type SseMessage } from './sse.js';
import { type FeedOptions, WorkFeed } from './work-feed.js';
import type { EventSource } from './work-port.js';

export interface HubOptions extends FeedOptions {
  /** Milliseconds a client waits before it connects again. */
  retryMs: number;
  /** Ended work whose events stay in memory for those who come late. */
  keepEnded: number;
}

const defaults: HubOptions = { pollMs: 1000, keepEvents: 10_000, retryMs: 1000, keepEnded: 200, onError: () => {} };

interface Watched {
  feed: WorkFeed;
  opened: Promise<void>;
  watchers: number;
}

/**
 * Fans one upstream subscription for each piece of work out to every client that watches it here (design "Streams"). A feed
 * is opened by its first watcher and closed by its last; a client that goes away costs nothing.
 */
export class EventsHub {
  readonly #watched = new Map<string, Watched>();
  readonly #ended = new Map<string, WorkFeed>();
  readonly #options: HubOptions;

  constructor(
    private readonly bus: BusPort,
    options: Partial<HubOptions> = {},
  ) {
    this.#options = { ...defaults, ...options };
  }

  /** Pieces of work with an upstream subscription now. */
  get openFeeds(): number {
    return this.#watched.size;
  }

  /**
   * Everything durable after number `since`, then what comes, with the lanes' texts so far first; ends with `event: end`.
   * The feed is released when the iteration ends or `signal` aborts before it begins.
   * @throws ParleyError not_found, unavailable: before the first message, so that it can still be a problem document
   */
  async watch(
    source: EventSource,
    id: string,
    since: number,
    { signal, draining }: { signal: AbortSignal; draining: AbortSignal },
  ): Promise<AsyncIterable<SseMessage>> {
    const { feed, release } = await this.#acquire(source, id, since);
    if (signal.aborted) release();
    else signal.addEventListener('abort', release, { once: true });
    const { retryMs } = this.#options;
    // A number beyond the last asks for nothing that exists; what comes from now on is sent, whenever it is read.
    const place = Math.min(since, feed.lastId);
    return {
      async *[Symbol.asyncIterator]() {
        try {
          yield { retry: retryMs, comment: 'parley' };
          yield* follow(feed, place, signal, draining);
        } finally {
          release();
        }
      },
    };
  }

  /**
   * The durable events after number `since`, at once where there are any; else the first that come within `waitMs` milliseconds.
   * `lastId` is the number to go on from; `endState`, once nothing more comes, the last state.
   * @throws ParleyError not_found, unavailable
   */
  async look(
    source: EventSource,
    id: string,
    since: number,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<{ events: NumberedEvent[]; lastId: number; endState: string | null }> {
    const { feed, release } = await this.#acquire(source, id, since);
    const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    const notices = new Notices(over);
    const stopListening = feed.onChange(notices.notice);
    try {
      // A feed that others watch is as new as the last hint.
      if (feed.endState === null) await feed.ask();
      for (;;) {
        notices.looks();
        const { endState } = feed;
        const events = await feed.after(Math.min(since, feed.lastId));
        const isOver = over.aborted || waitMs === 0;
        if (events.length > 0 || endState !== null || isOver)
          return { events, lastId: events.at(-1)?.id ?? Math.min(since, feed.lastId), endState };
        await notices.next();
      }
    } finally {
      stopListening();
      notices.close();
      release();
    }
  }

  async #acquire(source: EventSource, id: string, since: number): Promise<{ feed: WorkFeed; release: () => void }> {
    // An id belongs to one kind; asked for as another it is unknown, whoever watches it here.
    const key = `${source.kind} ${id}`;
    const ended = await this.#endedFeed(key, source, id);
    if (ended) {
      // Most recently used last: the first of the map goes when there are too many.
      this.#ended.delete(key);
      this.#ended.set(key, ended);
      return { feed: ended, release: () => {} };
    }
    let watched = this.#watched.get(key);
    if (!watched) {
      const feed = new WorkFeed(id, source, this.bus, this.#options);
      watched = { feed, opened: feed.open(since), watchers: 0 };
      this.#watched.set(key, watched);
    }
    const held = watched;
    held.watchers += 1;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      held.watchers -= 1;
      if (held.watchers > 0) return;
      if (this.#watched.get(key) === held) this.#watched.delete(key);
      held.feed.close();
      if (held.feed.endState !== null) this.#keepEnded(key, held.feed);
    };
    try {
      await held.opened;
    } catch (error) {
      release();
      throw error;
    }
    return { feed: held.feed, release };
  }

  /** One that is kept, unless the work was restored since and goes on, or has ended anew. */
  async #endedFeed(key: string, source: EventSource, id: string): Promise<WorkFeed | undefined> {
    const ended = this.#ended.get(key);
    if (!ended || ended.runId === null || ended.runId === (await source.latestRun(id))) return ended;
    this.#ended.delete(key);
    return undefined;
  }

  #keepEnded(key: string, feed: WorkFeed): void {
    this.#ended.set(key, feed);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= this.#options.keepEnded) return;
      this.#ended.delete(oldest);
    }
  }
}

/** One client's way through a feed: its own place in the numbers and in each lane's text. */
async function* follow(
  feed: WorkFeed,
  since: number,
  signal: AbortSignal,
  draining: AbortSignal,
): AsyncGenerator<SseMessage> {
  let place = since;
  const texts: TextCursor = new Map();
  const notices = new Notices(signal, draining);
  const stopListening = feed.onChange(notices.notice);
  try {
    while (!signal.aborted) {
      notices.looks();
      for (const piece of feed.texts.after(texts)) yield { event: 'partial', data: piece };
      // Read before the events: what ended in between comes with the next turn, never before its events.
      const { endState } = feed;
      for (const { id, event, data } of await feed.after(place)) {
        yield { event, id, data };
        place = id;
      }
      if (endState !== null && place >= feed.lastId) {
        yield { event: 'end', data: { state: endState } };
        return;
      }
      if (draining.aborted) {
        yield gatewayStops;
        return;
      }
      await notices.next();
    }
  } finally {
    stopListening();
    notices.close();
  }
}
