import type { SessionPolicy } from '../src/contracts/session.js';
import { openFeed, usageOf, wantsData, type Feed } from '../src/domain/feed.js';
import type { Amount, LaneSetup, WindowLimits } from '../src/domain/session-setup.js';
import type { LaneCall } from './lane-call.js';
import type { LaneEnd } from './metrics.js';

/** One lane of a running group: its call, its feed and the text that late watchers are owed. */
export class RunningLane {
  feed: Feed;
  text = '';
  ended = false;
  startedAt: number;
  usage: Amount | null = null;
  /** How the call is seen from outside, once it is made. */
  call: LaneCall | null = null;
  readonly controller = new AbortController();
  readonly finished: Promise<void>;
  private finish: () => void = () => {};
  private wake: (() => void) | null = null;
  timers: { gap?: NodeJS.Timeout; timeout?: NodeJS.Timeout } = {};

  constructor(
    readonly setup: LaneSetup,
    policy: SessionPolicy,
    window: WindowLimits,
    prompt: string,
    now: number,
  ) {
    this.feed = openFeed(policy, setup.tier, window, prompt);
    this.startedAt = now;
    this.finished = new Promise((resolve) => (this.finish = resolve));
  }

  /** Settles when data may be pulled again, or the lane has ended. */
  async room(): Promise<void> {
    while (!this.ended && !wantsData(this.feed)) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  stir(): void {
    this.wake?.();
    this.wake = null;
  }

  /** Usage so far: as the agent states it, else estimated from what it said. */
  used(): Amount {
    const estimate = usageOf(this.feed, null);
    if (this.usage === null) {
      const { estimate: prepared } = this.setup;
      const price = prepared.tokens > 0 ? prepared.usdMicros / prepared.tokens : 0;
      return { tokens: estimate.tokens, usdMicros: Math.round(estimate.tokens * price) };
    }
    return { tokens: Math.max(this.usage.tokens, 0), usdMicros: this.usage.usdMicros };
  }

  /** Ends the call. `used`: what it is known to have used, else what can be told so far. */
  stop(state: LaneEnd, code: string | null, used = this.used()): void {
    this.ended = true;
    clearTimeout(this.timers.gap);
    clearTimeout(this.timers.timeout);
    this.controller.abort();
    this.call?.end(state, used, code);
    this.finish();
    this.stir();
  }
}
