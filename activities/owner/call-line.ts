import { ParleyError } from '../../src/domain/errors.js';
import { Conversation, type ConversationOptions, type OwnerAnswer, type Saying } from './conversation.js';

/** A worker says this often in a lease which of its calls are alive. */
const beatsInLease = 3;

/** What a worker tells of its calls. */
export interface LineSaid<Event, Settings> {
  worker: string;
  events: Event[];
  /** What its operator wants kept to, where the owner may not know it. */
  settings?: Settings;
}

/** What every line of a worker is given. */
export interface LineOptions<Settings> {
  settings: Settings;
  /** Which worker it is, unlike any other that there is or was. */
  worker: string;
  onError: (error: unknown, what: string) => void;
  /** Milliseconds of a clock that only goes forward. */
  now: () => number;
}

export interface CallLineOptions<Key, Event, Settings, Answer extends OwnerAnswer, Open>
  extends Omit<LineOptions<Settings>, 'onError'>,
    Pick<ConversationOptions<Event, Answer>, 'hear' | 'onError'> {
  exchange: (said: LineSaid<Event, Settings>) => Promise<Answer>;
  say: (said: LineSaid<Event, Settings>) => Promise<boolean>;
  /** What the worker's nth call is known by. */
  keyOf: (number: number) => Key;
  withdrawn: (key: Key) => Event;
  /** That it was not made, whether it is granted or not. */
  unused: (key: Key) => Event;
  /** What is said of calls that are alive, that what they hold stands for a lease more. */
  alive: (waiting: Key[], open: ReadonlyMap<Key, Open>) => Saying<Event>[];
  leaseMs: number;
  /** How many calls there are now; `waitedMs`: one of them waits no longer, and has so long. */
  counted?: (counts: { waiting: number; underWay: number }, waitedMs: number | null) => void;
}

interface WaitingCall<Key, Event, Open> {
  key: Key;
  wantedAs: (key: Key) => Event;
  granted: (open: Open) => void;
  refused: (error: unknown) => void;
}

const wanted =
  <Key, Event, Open>({ key, wantedAs }: WaitingCall<Key, Event, Open>): Saying<Event> =>
  () =>
    wantedAs(key);

const stopping = (): ParleyError => new ParleyError('EDRAINING', 'this worker is stopping and takes no new calls');

/** One worker's calls that a workflow has to grant, and its conversation with it. `Open` is a call that it has granted. */
export class CallLine<Key, Event, Settings, Answer extends OwnerAnswer, Open> {
  private readonly waiting = new Map<Key, WaitingCall<Key, Event, Open>>();
  private readonly open = new Map<Key, Open>();
  private made = 0;
  private beat: NodeJS.Timeout | null = null;
  private readonly talk: Conversation<Event, Answer>;

  constructor(private readonly options: CallLineOptions<Key, Event, Settings, Answer, Open>) {
    const { exchange, say, worker, settings, hear, onError, now } = options;
    const said = (events: Event[], introduces: boolean): LineSaid<Event, Settings> => ({
      worker,
      events,
      ...(introduces && { settings }),
    });
    this.talk = new Conversation({
      exchange: (events, introduces) => exchange(said(events, introduces)),
      say: (events, introduces) => say(said(events, introduces)),
      countWaiting: () => this.waiting.size,
      sayWaiting: () => [...this.waiting.values()].map(wanted),
      hear,
      onError,
      now,
    });
  }

  /**
   * Settles once the call is granted; whoever has it says by `end` that it is over.
   * @throws ParleyError what it was refused with, EDRAINING when the worker stops
   * @throws what `signal` was aborted with
   */
  ask(wantedAs: (key: Key) => Event, signal: AbortSignal): Promise<Open> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.talk.isClosing) return reject(stopping());
      const since = this.options.now();
      const over = (): void => {
        signal.removeEventListener('abort', onAbort);
        this.observe(this.options.now() - since);
      };
      const call: WaitingCall<Key, Event, Open> = {
        key: this.nextKey(),
        wantedAs,
        granted: (open) => (over(), resolve(open)),
        refused: (error) => (over(), reject(error)),
      };
      const onAbort = (): void => this.withdraw(call, signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.wait(call);
    });
  }

  /**
   * Its owner grants a call. `open` makes of it what its caller is given; null: it was too long on its way, and is asked for anew.
   * `unused` is said of a grant that nobody takes.
   */
  grant(key: Key, open: (() => Open) | null, unused: Event): void {
    const call = this.waiting.get(key);
    if (call && open) {
      const opened = open();
      this.waiting.delete(key);
      this.open.set(key, opened);
      call.granted(opened);
      return;
    }
    // One that is under way was merely told twice.
    if (!this.open.has(key)) this.say(() => unused);
    this.askAnew(key);
  }

  /** What waits under this key is asked for by another: who is known by this one has had its turn. */
  askAnew(key: Key): void {
    const call = this.waiting.get(key);
    if (!call) return;
    this.waiting.delete(key);
    call.key = this.nextKey();
    this.wait(call);
  }

  refuse(key: Key, error: ParleyError): void {
    const call = this.waiting.get(key);
    this.waiting.delete(key);
    call?.refused(error);
  }

  /** @returns false where the call has ended before */
  end(key: Key, ...sayings: Saying<Event>[]): boolean {
    if (!this.open.delete(key)) return false;
    for (const saying of sayings) this.say(saying);
    this.observe();
    return true;
  }

  /** Says once more all that waits. */
  sayAgain(): void {
    for (const call of this.waiting.values()) this.say(wanted(call));
  }

  /** Says what is still to be said, within two seconds: what is not heard stands until its lease ends. */
  async close(): Promise<void> {
    this.talk.stopAsking();
    for (const call of [...this.waiting.values()]) this.withdraw(call, stopping());
    await this.talk.close();
    if (this.beat) clearInterval(this.beat);
  }

  private nextKey(): Key {
    this.made += 1;
    return this.options.keyOf(this.made);
  }

  private wait(call: WaitingCall<Key, Event, Open>): void {
    this.waiting.set(call.key, call);
    this.observe();
    this.say(wanted(call));
  }

  private withdraw({ key, refused }: WaitingCall<Key, Event, Open>, reason: unknown): void {
    if (!this.waiting.delete(key)) return;
    this.say(() => this.options.withdrawn(key));
    // It may have been granted in the same moment.
    this.say(() => this.options.unused(key));
    refused(reason);
  }

  private observe(waitedMs: number | null = null): void {
    const { counted, leaseMs } = this.options;
    counted?.({ waiting: this.waiting.size, underWay: this.open.size }, waitedMs);
    const isBusy = this.waiting.size + this.open.size > 0;
    if (isBusy === (this.beat !== null)) return;
    if (this.beat) clearInterval(this.beat);
    this.beat = isBusy ? setInterval(() => this.sayAlive(), leaseMs / beatsInLease) : null;
  }

  private sayAlive(): void {
    for (const saying of this.options.alive([...this.waiting.keys()], this.open)) this.say(saying);
  }

  private say(saying: Saying<Event>): void {
    this.talk.say(saying);
  }
}
