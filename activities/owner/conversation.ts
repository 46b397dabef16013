import { setTimeout as sleep } from 'node:timers/promises';

/** What is said within this goes together. */
const batchMs = 15;
const firstRetryMs = 200;
const longestRetryMs = 5_000;

/** Something to say, as of when it is said: milliseconds of a clock that only goes forward. */
export type Saying<Event> = (now: number) => Event;

/** What every owner tells of its answer, beside what it answers. */
export interface OwnerAnswer {
  /** The run that answers: another one knows what it was told, but not what it has told of that. */
  runId: string;
  /** For how long the answer was held back. */
  heldMs: number;
  /** How long to wait before asking again, as too many wait at a time; 0: no time. */
  waitMs: number;
}

export interface ConversationOptions<Event, Answer extends OwnerAnswer> {
  /**
   * Asks, and settles once there is something to tell. `introduces`: the owner may not know what this worker keeps to.
   * @throws what Temporal throws: none of what was said is known to be heard then
   */
  exchange: (events: Event[], introduces: boolean) => Promise<Answer>;
  /** @returns false where there is no owner, so that nothing of what it held stands any more */
  say: (events: Event[], introduces: boolean) => Promise<boolean>;
  /** How many calls wait for its word. */
  countWaiting: () => number;
  /** All that waits, as it was first said. */
  sayWaiting: () => Saying<Event>[];
  /** @param onTheWayMs what question and answer took beyond what the answer was held back for */
  hear: (answer: Answer, onTheWayMs: number) => void;
  onError: (error: unknown, isAsked: boolean) => void;
  /** Milliseconds of a clock that only goes forward. */
  now: () => number;
}

/** Ends early, and quietly, when `signal` is aborted. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

/**
 * One worker's conversation with the workflow that owns what its calls share: while calls wait one question is open, and what is to be
 * said meanwhile goes beside it. Whatever is lost on the way is said again: nothing of it may count twice.
 */
export class Conversation<Event, Answer extends OwnerAnswer> {
  private toSay: Saying<Event>[] = [];
  private heardRunId: string | null = null;
  private isToIntroduce = true;
  private conversation: Promise<void> | null = null;
  private telling: Promise<void> | null = null;
  private batch: NodeJS.Timeout | null = null;
  private readonly closing = new AbortController();

  constructor(private readonly options: ConversationOptions<Event, Answer>) {}

  get isClosing(): boolean {
    return this.closing.signal.aborted;
  }

  say(saying: Saying<Event>): void {
    this.toSay.push(saying);
    this.batch ??= setTimeout(() => this.flush(), batchMs);
  }

  /** Asks nothing any more. */
  stopAsking(): void {
    this.closing.abort();
  }

  /** Says what is still to be said, within two seconds. */
  async close(): Promise<void> {
    this.stopAsking();
    this.flush();
    const patience = new AbortController();
    await Promise.race([this.telling, pause(2_000, patience.signal)]);
    patience.abort();
    if (this.batch) clearTimeout(this.batch);
  }

  private flush(): void {
    if (this.batch) clearTimeout(this.batch);
    this.batch = null;
    if (this.toSay.length === 0) return;
    if (this.options.countWaiting() > 0 && this.conversation === null) {
      this.conversation = this.converse().finally(() => {
        this.conversation = null;
        this.flush();
      });
    } else this.telling ??= this.tell().finally(() => (this.telling = null));
  }

  private take(): { sayings: Saying<Event>[]; events: Event[] } {
    const sayings = this.toSay;
    this.toSay = [];
    const now = this.options.now();
    return { sayings, events: sayings.map((saying) => saying(now)) };
  }

  /** Asks for as long as calls wait. */
  private async converse(): Promise<void> {
    const { exchange, countWaiting, hear, onError, now } = this.options;
    let retryMs = firstRetryMs;
    while (countWaiting() > 0 && !this.isClosing) {
      const { sayings, events } = this.take();
      const askedAt = now();
      let answer: Answer;
      try {
        answer = await exchange(events, this.isToIntroduce);
      } catch (error) {
        onError(error, true);
        this.toSay = [...sayings, ...this.toSay];
        this.askAgain();
        await pause(retryMs, this.closing.signal);
        retryMs = Math.min(longestRetryMs, retryMs * 2);
        continue;
      }
      retryMs = firstRetryMs;
      this.isToIntroduce = false;
      hear(answer, now() - askedAt - answer.heldMs);
      if (this.heardRunId !== null && this.heardRunId !== answer.runId) this.askAgain();
      this.heardRunId = answer.runId;
      if (answer.waitMs > 0 && countWaiting() > 0) await pause(answer.waitMs, this.closing.signal);
    }
  }

  /** Says without asking; what does not arrive is said again. */
  private async tell(): Promise<void> {
    const { say, countWaiting, onError } = this.options;
    let retryMs = firstRetryMs;
    while (this.toSay.length > 0 && (countWaiting() === 0 || this.conversation !== null)) {
      const { sayings, events } = this.take();
      try {
        if (await say(events, this.isToIntroduce)) continue;
        // Without an owner nothing is held; where calls wait, a question is about to start one.
        if (this.conversation === null) continue;
      } catch (error) {
        onError(error, false);
      }
      this.toSay = [...sayings, ...this.toSay];
      if (this.isClosing) return;
      await pause(retryMs, this.closing.signal);
      retryMs = Math.min(longestRetryMs, retryMs * 2);
    }
  }

  /** Says all that waits once more: what was heard of it is not known, and a call that is granted already is told again. */
  private askAgain(): void {
    this.isToIntroduce = true;
    this.toSay.push(...this.options.sayWaiting());
  }
}
