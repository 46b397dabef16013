import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallWait, Beat } from '../src/contracts/call-wait.js';
import { joinedWaits } from '../src/domain/call-wait.js';
import { iso } from '../src/domain/instant.js';

/** A call that waits for less is no news. */
const worthTellingMs = 1_000;

/** What a call waits for before it may be made. */
export type Awaited = Pick<CallWait, 'for' | 'of'>;

/** The calls of one activity that may not be made yet. */
export class CallWaits {
  private readonly open = new Set<Awaited & { since: number }>();
  private listener: (() => void) | null = null;

  constructor(private readonly now: () => number = Date.now) {}

  /** What a heartbeat says of them; undefined: nothing. */
  beat(): Beat | undefined {
    const latest = this.now() - worthTellingMs;
    const told = [...this.open].filter(({ since }) => since <= latest);
    const waiting = joinedWaits(told.map(({ since, ...wait }) => ({ ...wait, since: iso(since), calls: 1 })));
    return waiting.length > 0 ? { waiting } : undefined;
  }

  /** One that begins now. @returns ends it */
  begin(awaited: Awaited): () => void {
    const wait = { ...awaited, since: this.now() };
    this.open.add(wait);
    return () => {
      if (this.open.delete(wait)) this.listener?.();
    };
  }

  /** Who beats for these calls hears of each wait that ends; only the latest does. */
  onEnd(listener: () => void): void {
    this.listener = listener;
  }

  /** Calls that are made within `work` are of these. */
  around<T>(work: () => T): T {
    return current.run(this, work);
  }
}

const current = new AsyncLocalStorage<CallWaits>();

/**
 * Tells that a call of this activity may not be made yet, for as long as `until` is under way: the status of the work says so
 * then, in place of "lane" (spec 08 "Why is it not moving?"). Outside of an activity that beats nobody is told.
 */
export const whileWaiting = async <T>(awaited: Awaited, until: () => Promise<T>): Promise<T> => {
  const end = current.getStore()?.begin(awaited);
  try {
    return await until();
  } finally {
    end?.();
  }
};
