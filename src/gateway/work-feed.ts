import type { BusMessage, BusPort } from '../contracts/bus.js';
import type { NumberedEvent } from '../contracts/events.js';
import type { EventsAnswer } from '../../workflows/messages.js';
import { LaneTexts } from './lane-texts.js';
import type { EventSource } from './work-port.js';

export interface FeedOptions {
  /** Milliseconds without a hint after which the workflow is asked anyway. */
  pollMs: number;
  /** Most durable events kept; older ones are asked for again when a reader needs them. */
  keepEvents: number;
  onError: (error: unknown) => void;
}

/** Polls in a row that brought nothing before the feed looks whether the work was closed from outside. */
const pollsBeforeClosedCheck = 5;
/** Least milliseconds between two requests for the whole text. */
const syncEveryMs = 200;

/**
 * The one upstream subscription to a piece of work in this gateway: its durable events in memory, numbered without holes,
 * and the text so far of its lanes. Readers are woken when something may be new and take what follows their own place.
 */
export class WorkFeed {
  readonly texts = new LaneTexts();
  /** Why nothing more comes: the last state, once every event is here. */
  endState: string | null = null;
  /** The newest run that has answered; null: none said which it is. */
  runId: string | null = null;

  /** Contiguous: the numbers `#base + 1` to `#base + #events.length`. */
  #events: NumberedEvent[] = [];
  #base = 0;
  readonly #wakers = new Set<() => void>();
  #unsubscribe: (() => void) | null = null;
  #poll: NodeJS.Timeout | null = null;
  #sync: NodeJS.Timeout | null = null;
  #isOpening = true;
  #asking: Promise<void> | null = null;
  #askAgain = false;
  #emptyPolls = 0;

  constructor(
    readonly id: string,
    private readonly source: EventSource,
    private readonly bus: BusPort,
    private readonly options: FeedOptions,
  ) {}

  get lastId(): number {
    return this.#base + this.#events.length;
  }

  /** The first look at the work. @throws ParleyError not_found, unavailable */
  async open(since: number): Promise<void> {
    this.#unsubscribe = this.bus.subscribe(this.id, (message) => this.#hear(message));
    try {
      let answer = await this.source.events(this.id, since);
      // Nothing after `since` alone does not tell what the last number is; reading all runs of long work takes minutes.
      const start = answer.events.length > 0 ? since : Math.min(since, answer.lastId ?? 0);
      if (start !== since && answer.lastId === undefined) answer = await this.source.events(this.id, start);
      await this.#take(answer, start);
      if (this.endState !== null) return;
      // A run that was terminated never says that it has ended.
      if (await this.#endIfClosed()) return;
      await this.#seedTexts();
      this.bus.publish(this.id, { type: 'sync' });
    } catch (error) {
      this.close();
      throw error;
    }
    this.#isOpening = false;
    if (this.#askAgain) void this.ask();
    else this.#schedule();
  }

  /** Durable events after number `since`; asks the workflow for those not kept. */
  async after(since: number): Promise<NumberedEvent[]> {
    if (since >= this.#base) return this.#events.slice(since - this.#base);
    const older = await this.#olderThan(await this.source.events(this.id, since), since);
    const merged = [...older.filter(({ id }) => id > since && id <= this.#base), ...this.#events];
    return merged;
  }

  /** Wakes `waker` whenever something may be new. @returns a function that ends it */
  onChange(waker: () => void): () => void {
    this.#wakers.add(waker);
    return () => void this.#wakers.delete(waker);
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    if (this.#poll) clearTimeout(this.#poll);
    if (this.#sync) clearTimeout(this.#sync);
    this.#poll = null;
    this.#sync = null;
  }

  get #isOpen(): boolean {
    return this.#unsubscribe !== null;
  }

  #hear(message: BusMessage): void {
    if (message.type === 'touched') {
      this.#askAgain = true;
      // A stock server turns away the second of two questions in a run's first moment, and is asked again seconds later.
      if (!this.#isOpening) void this.ask();
    }
    if (message.type !== 'partial') return;
    const { type: _, ...piece } = message;
    const outcome = this.texts.merge(piece);
    if (outcome === 'hole') this.#askForTexts();
    if (outcome === 'grown') this.#wake();
  }

  #wake(): void {
    for (const waker of this.#wakers) waker();
  }

  #askForTexts(): void {
    this.#sync ??= setTimeout(() => {
      this.#sync = null;
      this.bus.publish(this.id, { type: 'sync' });
      this.#seedTexts().catch((error: unknown) => this.options.onError(error));
    }, syncEveryMs);
  }

  /** Asks the workflow for what is new; hints that come meanwhile are answered by one more question. */
  ask(): Promise<void> {
    this.#askAgain = true;
    this.#asking ??= this.#askUntilQuiet().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askUntilQuiet(): Promise<void> {
    while (this.#askAgain && this.endState === null && this.#isOpen) {
      this.#askAgain = false;
      const since = this.lastId;
      try {
        await this.#take(await this.source.events(this.id, since), since);
      } catch (error) {
        // Temporal may be away for a while; the poll asks again and the streams stay open.
        this.options.onError(error);
      }
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#poll) clearTimeout(this.#poll);
    this.#poll = null;
    if (!this.#isOpen || this.endState !== null) return;
    this.#poll = setTimeout(() => void this.#pollOnce(), this.options.pollMs);
  }

  async #pollOnce(): Promise<void> {
    const before = this.lastId;
    await this.ask();
    this.#emptyPolls = this.lastId === before ? this.#emptyPolls + 1 : 0;
    if (this.#emptyPolls < pollsBeforeClosedCheck || this.endState !== null || !this.#isOpen) return;
    this.#emptyPolls = 0;
    try {
      await this.#endIfClosed();
    } catch (error) {
      this.options.onError(error);
    }
  }

  async #take(answer: EventsAnswer, since: number): Promise<void> {
    this.runId = answer.runId ?? null;
    const events = await this.#olderThan(answer, since);
    const isFirst = this.#events.length === 0 && this.#base === 0;
    if (isFirst) this.#base = events[0] ? events[0].id - 1 : since;
    const fresh = events.filter(({ id }) => id > this.lastId);
    for (const event of fresh) {
      const lane = this.source.endedLane(event);
      if (lane !== null) this.texts.end(lane);
    }
    this.#events.push(...fresh);
    const excess = this.#events.length - this.options.keepEvents;
    if (excess > 0) {
      this.#events.splice(0, excess);
      this.#base += excess;
    }
    if (answer.ended) return this.#end(await this.#lastState());
    if (fresh.length > 0) this.#wake();
  }

  /** The answer's events, and before them those of earlier runs when the work has continued as new since. */
  async #olderThan(answer: EventsAnswer, since: number): Promise<NumberedEvent[]> {
    let events = answer.events;
    let { firstId, previousRunId } = answer;
    while (firstId > since + 1 && previousRunId !== null) {
      const earlier = await this.source.events(this.id, since, previousRunId);
      const first = events[0]?.id ?? firstId;
      events = [...earlier.events.filter(({ id }) => id < first), ...events];
      ({ firstId, previousRunId } = earlier);
    }
    return events;
  }

  async #lastState(): Promise<string> {
    const state = this.#events.findLast((event) => event.event === 'state');
    return state?.event === 'state' ? state.data.to : (await this.source.status(this.id)).state;
  }

  /** Looks once more after it was found closed: its own last events may have come in between. */
  async #endIfClosed(): Promise<boolean> {
    const closedAs = await this.source.closedAs(this.id);
    if (closedAs === null) return false;
    const { runId, lastId: since } = this;
    await this.#take(await this.source.events(this.id, since), since);
    // It was restored in between, and goes on in another run.
    if (runId !== null && this.runId !== runId) return false;
    if (this.endState === null) this.#end(closedAs);
    return true;
  }

  #end(state: string): void {
    this.endState = state;
    this.texts.clear();
    this.close();
    this.#wake();
  }

  /** Nobody answers a `sync` for a lane that no worker streams: the workflow alone has its text so far. */
  async #seedTexts(): Promise<void> {
    for (const piece of await this.source.texts(this.id)) {
      if (this.texts.merge(piece) === 'grown') this.#wake();
    }
  }
}
