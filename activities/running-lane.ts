import type { Json, ControlFrame, Frame } from '../src/contracts/frames.js';
import type { Vote } from '../src/domain/agreement.js';
import {
  feedCounts,
  feedDue,
  feedFrame,
  feedTick,
  openFeed,
  usageOf,
  wantsData,
  type Fed,
  type Feed,
  type FeedReport,
} from '../src/domain/feed.js';
import type { FrameCounts } from '../src/domain/lane.js';
import type { Amount, LaneSetup } from '../src/domain/session/setup.js';
import { failureOf } from './ask.js';
import type { GroupInput, GroupPorts } from './group.js';
import { LaneCall } from './lane-call.js';
import type { LaneEnd } from './metrics.js';

/** One lane of a running group: the call of its agent, and what its frames amount to, told as reports. */
export class RunningLane {
  /** What it has said, as watchers who come late are owed it. */
  text = '';
  /** Of its text, or of the final that replaced it, as JSON. */
  bytes = 0;
  ended = false;
  readonly startedAt: number;
  private feed: Feed;
  private stated: Amount | null = null;
  /** How the call is seen from outside, once it is made. */
  private call: LaneCall | null = null;
  private readonly controller = new AbortController();
  private readonly finished: Promise<void>;
  private finish: () => void = () => {};
  private wake: (() => void) | null = null;
  private timers: { gap?: NodeJS.Timeout; timeout?: NodeJS.Timeout } = {};

  constructor(
    readonly setup: LaneSetup,
    private readonly input: GroupInput,
    private readonly ports: GroupPorts,
    /** Called in the order of things; whoever hears of an end ends the lane with it. */
    private readonly tell: (lane: RunningLane, report: FeedReport) => void,
  ) {
    this.feed = openFeed(input.policy, setup.tier, input.window, input.prompt);
    this.startedAt = ports.now();
    this.finished = new Promise((resolve) => (this.finish = resolve));
  }

  get counts(): FrameCounts {
    return feedCounts(this.feed);
  }

  /** Usage so far: as the agent states it, else estimated from what it said. */
  used(): Amount {
    const estimate = usageOf(this.feed, null);
    if (this.stated === null) {
      const { estimate: prepared } = this.setup;
      const price = prepared.tokens > 0 ? prepared.usdMicros / prepared.tokens : 0;
      return { tokens: estimate.tokens, usdMicros: Math.round(estimate.tokens * price) };
    }
    return { tokens: Math.max(this.stated.tokens, 0), usdMicros: this.stated.usdMicros };
  }

  /** As it would stand among the others; `endedAt` null: what it says is not its final. */
  vote(answer: Json, endedAt: number | null): Vote {
    const { laneId, weight, tier } = this.setup;
    return { laneId, order: 0, weight, tier, answer, final: endedAt !== null, endedAt };
  }

  /** Makes the call and settles when it has ended; a failure is told, not thrown. */
  async run(attempt: number): Promise<void> {
    const { setup, ports } = this;
    const call = new LaneCall(this.input, setup, attempt, ports.metrics, ports.now);
    this.call = call;
    if (setup.timeoutMs !== null) {
      const message = `no final within the lane's timeout_ms of ${setup.timeoutMs}`;
      this.timers.timeout = setTimeout(() => this.say({ type: 'TIMEOUT', message, ...this.spent() }), setup.timeoutMs);
    }
    let frames: AsyncIterable<Frame>;
    try {
      frames = await this.open(call);
    } catch (error) {
      this.say({ type: 'DISPATCH_ERR', ...failureOf(error) });
      return;
    }
    if (this.ended) return;
    this.say({ type: 'DISPATCH_OK' });
    try {
      await this.pull(frames);
    } catch (error) {
      this.say({ type: 'FAIL', ...failureOf(error), ...this.spent() });
    }
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

  private open(call: LaneCall): Promise<AsyncIterable<Frame>> {
    const { setup, input } = this;
    return this.ports.agents.open(
      {
        workId: input.workId,
        laneId: setup.laneId,
        personaId: setup.personaId,
        instructions: setup.instructions,
        diversitySeed: setup.diversitySeed,
        prompt: input.prompt,
        adapter: setup.adapter,
        maxTokens: null,
        callsBefore: 0,
        tenant: input.tenant,
        tier: setup.tier,
      },
      {
        signal: this.controller.signal,
        onControl: (frame) => this.hear(frame),
        onUsage: (usage) => (this.stated = usageOf(this.feed, usage)),
        trace: call.context,
      },
    );
  }

  private async pull(frames: AsyncIterable<Frame>): Promise<void> {
    const iterator = frames[Symbol.asyncIterator]();
    let lastSeq = 0;
    let saidEnd = false;
    try {
      while (!this.ended) {
        await this.room();
        if (this.ended) break;
        const next = await iterator.next();
        if (this.ended) break;
        if (next.done) {
          // A stream that simply ends has said all: its partials are the answer.
          if (!saidEnd) this.hear({ type: 'final', msg_seq: lastSeq + 1 });
          break;
        }
        const frame = next.value;
        saidEnd ||= frame.type === 'final' || frame.type === 'fail';
        if (frame.type !== 'control') lastSeq = Math.max(lastSeq, frame.msg_seq ?? 0);
        this.hear(frame);
      }
      // An end that waits behind a gap comes with the gap's timer.
      await this.finished;
    } finally {
      await iterator.return?.();
    }
  }

  /** Settles when data may be pulled again, or the lane has ended. */
  private async room(): Promise<void> {
    while (!this.ended && !wantsData(this.feed)) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  private stir(): void {
    this.wake?.();
    this.wake = null;
  }

  private hear(frame: Frame | ControlFrame): void {
    if (!this.ended) this.take(feedFrame(this.feed, frame, this.ports.now()));
  }

  private take(fed: Fed): void {
    this.feed = fed.feed;
    for (const report of fed.reports) this.say(this.weighed(report));
    if (this.ended) return;
    clearTimeout(this.timers.gap);
    const due = feedDue(this.feed);
    if (due !== null) {
      this.timers.gap = setTimeout(
        () => {
          if (!this.ended) this.take(feedTick(this.feed, this.ports.now()));
        },
        Math.max(0, due - this.ports.now()),
      );
    }
    if (wantsData(this.feed)) this.stir();
  }

  /** What the agent states of its usage stands above what its frames let one guess. */
  private weighed(report: FeedReport): FeedReport {
    switch (report.type) {
      case 'PARTIAL':
      case 'FAIL':
        return { ...report, usage: this.used() };
      case 'FINAL':
        return { ...report, usage: this.stated ?? report.usage };
      default:
        return report;
    }
  }

  private say(report: FeedReport): void {
    if (!this.ended) this.tell(this, report);
  }

  private spent(): { usage: Amount; counts: FrameCounts } {
    return { usage: this.used(), counts: this.counts };
  }
}
