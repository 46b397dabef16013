import { deepFreeze } from './deep-freeze.js';

interface Told {
  event: string;
  data: unknown;
}
interface Stepped<Work, Effect, Event> {
  work: Work;
  effects: readonly Effect[];
  events: readonly Event[];
}
interface Tick {
  type: 'TICK';
}

/** 2026-11-21T00:00:00Z, in epoch milliseconds. */
export const start = Date.UTC(2026, 10, 21);

/** Work played by hand: time is a number that only the test moves, and every answer is the test's. */
export abstract class WorkPlay<Work extends { state: string; result?: unknown }, Given, Effect, Event extends Told> {
  work: Work;
  effects: Effect[] = [];
  events: Event[] = [];

  /** @param now epoch milliseconds */
  protected constructor(
    work: Work,
    public now = start,
  ) {
    this.work = deepFreeze(work);
  }

  protected abstract step(given: Given | Tick): Stepped<Work, Effect, Event>;
  /** When it changes something by itself; null: it waits for others. */
  protected abstract due(): number | null;

  take(given: Given | Tick): this {
    const { work, effects, events } = this.step(deepFreeze(given));
    this.work = deepFreeze(work);
    this.effects.push(...effects);
    this.events.push(...events);
    return this;
  }
  after(ms: number): this {
    this.now += ms;
    return this;
  }
  /** Time goes on to the next moment at which it changes something by itself. */
  wait(): this {
    const due = this.due();
    if (due === null) throw new Error(`nothing is due in ${this.state}`);
    this.now = due;
    return this.take({ type: 'TICK' });
  }

  get state(): Work['state'] {
    return this.work.state;
  }
  get result(): NonNullable<Work['result']> {
    if (!this.work.result) throw new Error(`no result in ${this.state}`);
    return this.work.result;
  }
  told<Name extends Event['event']>(name: Name): Extract<Event, { event: Name }>['data'][] {
    return this.events.filter((each): each is Extract<Event, { event: Name }> => each.event === name).map(dataOf);
  }
  /** States in the order in which they were entered. */
  get path(): string[] {
    return this.events.flatMap(({ event, data }) => (event === 'state' ? [(data as { to: string }).to] : []));
  }
}

const dataOf = <Event extends Told>({ data }: Event): Event['data'] => data;
