import type { BusPort } from '../src/contracts/bus.js';
import type { ControlFrame, Frame } from '../src/contracts/frames.js';
import type { SessionPolicy } from '../src/contracts/session.js';
import { agreementOf, type Agreement, type Vote } from '../src/domain/agreement.js';
import { add } from '../src/domain/budget.js';
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
import type { LaneReport } from '../src/domain/lane.js';
import { atLeast } from '../src/domain/numbers.js';
import type { Amount, PlannedLane, WindowLimits } from '../src/domain/plan.js';
import { preemptionOrder } from '../src/domain/tier.js';
import type { Directives, GroupReport } from '../workflows/messages.js';
import type { AgentPort } from './ports.js';

export interface GroupInput {
  workId: string;
  group: string;
  prompt: string;
  policy: SessionPolicy;
  window: WindowLimits;
  lanes: PlannedLane[];
  /** Attempt number of the lanes when the activity is at its first attempt. */
  attempt: number;
  /** Votes of lanes outside this group, for the digest. */
  others: Vote[];
  /** What this group may use in all; null: no limit. */
  budget: { maxTokens: number | null; maxUsdMicros: number | null };
}

/** How a group talks to its workflow; both calls reject with `gone` true on an error when the workflow has closed. */
export interface GroupLink {
  report(workId: string, report: GroupReport): Promise<void>;
  directives(workId: string): Promise<Directives>;
}
export class WorkGoneError extends Error {}

export interface GroupPorts {
  agents: AgentPort;
  bus: BusPort;
  link: GroupLink;
  now: () => number;
}

/** Reports that end or pause something are sent after this pause, so that lanes that end together cost one signal. */
const coalesceMs = 5;
/** A dispatch or a first partial alone may wait a little longer: in a quick session the end overtakes it. */
const unhurriedMs = 40;
/** Least time between two digests of streaming text (design "Streams": a few times a second); it grows with their number. */
const digestMs = 250;

/** One lane of a running group: its call, its feed and the text that late watchers are owed. */
class RunningLane {
  feed: Feed;
  text = '';
  ended = false;
  startedAt: number;
  usage: Amount | null = null;
  readonly controller = new AbortController();
  readonly finished: Promise<void>;
  private finish: () => void = () => {};
  private wake: (() => void) | null = null;
  timers: { gap?: NodeJS.Timeout; timeout?: NodeJS.Timeout } = {};

  constructor(
    readonly plan: PlannedLane,
    policy: SessionPolicy,
    window: WindowLimits,
    prompt: string,
    now: number,
  ) {
    this.feed = openFeed(policy, plan.tier, window, prompt);
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
      const { estimate: planned } = this.plan;
      const price = planned.tokens > 0 ? planned.usdMicros / planned.tokens : 0;
      return { tokens: estimate.tokens, usdMicros: Math.round(estimate.tokens * price) };
    }
    return { tokens: Math.max(this.usage.tokens, 0), usdMicros: this.usage.usdMicros };
  }

  stop(): void {
    this.ended = true;
    clearTimeout(this.timers.gap);
    clearTimeout(this.timers.timeout);
    this.controller.abort();
    this.finish();
    this.stir();
  }
}

/**
 * Runs the lanes of one session that share a worker's queue. Tokens go to watchers over the bus; what decides goes to the
 * workflow, coarsely: ends and pauses at once, streaming text as a digest when the leading group or the quorum could change.
 */
export class LaneGroup {
  private readonly lanes: RunningLane[];
  private outbox: LaneReport[] = [];
  private seq = 0;
  private flushTimer: NodeJS.Timeout | null = null;
  private flushDue = Infinity;
  private flushing: Promise<void> = Promise.resolve();
  private digestTimer: NodeJS.Timeout | null = null;
  private digests = 0;
  private nextDigestAt = 0;
  private flushed: { value: Agreement; answer: Vote['answer'] | null; quorum: boolean } | null = null;
  private failure: Error | null = null;
  private detached = false;
  readonly done: Promise<LaneReport[]>;
  private settleDone: (rest: LaneReport[]) => void = () => {};
  private failDone: (error: Error) => void = () => {};

  constructor(
    private readonly input: GroupInput,
    private readonly attempt: number,
    skip: readonly string[],
    private readonly ports: GroupPorts,
  ) {
    const now = ports.now();
    this.lanes = input.lanes
      .filter((lane) => !skip.includes(lane.laneId))
      .map((lane) => new RunningLane(lane, input.policy, input.window, input.prompt, now));
    this.done = new Promise((resolve, reject) => {
      this.settleDone = resolve;
      this.failDone = reject;
    });
  }

  /** Starts every lane; `done` settles with the reports that were not signalled when all have ended. */
  start(): void {
    const { bus } = this.ports;
    const unsubscribe = bus.subscribe(this.input.workId, (message) => {
      if (message.type === 'directed') void this.direct();
      if (message.type === 'sync') this.publishText();
    });
    const runs = this.lanes.map((lane) => this.run(lane));
    void Promise.all(runs)
      .then(async () => {
        this.clearTimers();
        await this.flushing;
        if (this.failure) throw this.failure;
        this.settleDone(this.outbox);
      })
      .catch((error: unknown) => this.failDone(error instanceof Error ? error : new Error(String(error))))
      .finally(unsubscribe);
  }

  /** Ends every call without a word to the workflow: it is over, or another attempt will take its place. */
  abandon(): void {
    this.detached = true;
    for (const lane of this.lanes) lane.stop();
  }

  /** Asks the workflow what is to stop, and stops it; an ended lane's usage is told, as it was cut off unseen. */
  async direct(): Promise<void> {
    let directives: Directives;
    try {
      directives = await this.ports.link.directives(this.input.workId);
    } catch (error) {
      if (error instanceof WorkGoneError) this.abandon();
      else this.fail(error);
      return;
    }
    for (const lane of this.lanes) {
      if (lane.ended || !directives.ended.includes(lane.plan.laneId)) continue;
      const usage = lane.used();
      lane.stop();
      this.push(lane, { type: 'SETTLE', usage, counts: feedCounts(lane.feed) }, coalesceMs);
    }
  }

  private fail(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
    for (const lane of this.lanes) lane.stop();
  }

  private async run(lane: RunningLane): Promise<void> {
    const { plan, controller } = lane;
    if (plan.timeoutMs !== null) {
      const timeoutMs = plan.timeoutMs;
      lane.timers.timeout = setTimeout(() => {
        const message = `no final within the lane's timeout_ms of ${timeoutMs}`;
        this.end(lane, { type: 'TIMEOUT', message, usage: lane.used(), counts: feedCounts(lane.feed) });
      }, timeoutMs);
    }
    let frames: AsyncIterable<Frame>;
    try {
      frames = await this.ports.agents.open(
        {
          workId: this.input.workId,
          laneId: plan.laneId,
          personaId: plan.personaId,
          instructions: plan.instructions,
          diversitySeed: plan.diversitySeed,
          prompt: this.input.prompt,
          adapter: plan.adapter,
          maxTokens: null,
          callsBefore: 0,
        },
        {
          signal: controller.signal,
          onControl: (frame) => this.hear(lane, frame),
          onUsage: (usage) => (lane.usage = usageOf(lane.feed, usage)),
        },
      );
    } catch (error) {
      if (!lane.ended) this.end(lane, { type: 'DISPATCH_ERR', ...describe(error) });
      return;
    }
    if (lane.ended) return;
    this.push(lane, { type: 'DISPATCH_OK' }, unhurriedMs);
    try {
      await this.pull(lane, frames);
    } catch (error) {
      if (lane.ended) return;
      this.end(lane, { type: 'FAIL', ...describe(error), usage: lane.used(), counts: feedCounts(lane.feed) });
    }
  }

  private async pull(lane: RunningLane, frames: AsyncIterable<Frame>): Promise<void> {
    const iterator = frames[Symbol.asyncIterator]();
    let lastSeq = 0;
    let saidEnd = false;
    try {
      while (!lane.ended) {
        await lane.room();
        if (lane.ended) break;
        const next = await iterator.next();
        if (lane.ended) break;
        if (next.done) {
          // A stream that simply ends has said all: its partials are the answer.
          if (!saidEnd) this.hear(lane, { type: 'final', msg_seq: lastSeq + 1 });
          break;
        }
        const frame = next.value;
        saidEnd ||= frame.type === 'final' || frame.type === 'fail';
        if (frame.type !== 'control') lastSeq = Math.max(lastSeq, frame.msg_seq ?? 0);
        this.hear(lane, frame);
      }
      // An end that waits behind a gap comes with the gap's timer.
      await lane.finished;
    } finally {
      await iterator.return?.();
    }
  }

  private hear(lane: RunningLane, frame: Frame | ControlFrame): void {
    if (lane.ended) return;
    this.took(lane, feedFrame(lane.feed, frame, this.ports.now()));
  }

  private took(lane: RunningLane, fed: Fed): void {
    lane.feed = fed.feed;
    for (const report of fed.reports) this.said(lane, report);
    if (lane.ended) return;
    clearTimeout(lane.timers.gap);
    const due = feedDue(lane.feed);
    if (due !== null) {
      lane.timers.gap = setTimeout(
        () => {
          if (!lane.ended) this.took(lane, feedTick(lane.feed, this.ports.now()));
        },
        Math.max(0, due - this.ports.now()),
      );
    }
    if (wantsData(lane.feed)) lane.stir();
  }

  private said(lane: RunningLane, report: FeedReport): void {
    switch (report.type) {
      case 'PARTIAL': {
        const first = lane.text === '';
        this.publish(lane, lane.text.length, report.text);
        lane.text += report.text;
        this.push(lane, { ...report, usage: lane.used() }, first ? unhurriedMs : null);
        this.considerDigest();
        this.checkBudget(lane);
        break;
      }
      case 'FINAL':
        if (report.text) {
          this.publish(lane, lane.text.length, report.text);
          lane.text += report.text;
        }
        this.end(lane, { ...report, usage: lane.usage ?? report.usage });
        break;
      case 'FAIL':
        this.end(lane, { ...report, usage: lane.used() });
        break;
      default:
        this.push(lane, report, coalesceMs);
    }
  }

  private end(lane: RunningLane, report: FeedReport): void {
    if (lane.ended) return;
    lane.stop();
    if (report.type === 'FINAL' && report.answer !== undefined) this.dropUnsentText(lane);
    this.push(lane, report, coalesceMs);
  }

  /** A final with an answer replaces what was streamed: text that was not reported yet need not enter history. */
  private dropUnsentText(lane: RunningLane): void {
    for (const report of this.outbox) {
      if (report.type === 'PARTIAL' && report.lane === lane.plan.laneId) report.text = '';
    }
  }

  // Budget (spec 00 "during streaming")

  private checkBudget(crossing: RunningLane): void {
    const { maxTokens, maxUsdMicros } = this.input.budget;
    if (maxTokens === null && maxUsdMicros === null) return;
    const used = this.lanes.map((lane) => lane.used()).reduce(add, { tokens: 0, usdMicros: 0 });
    const over =
      (maxTokens !== null && used.tokens > maxTokens) || (maxUsdMicros !== null && used.usdMicros > maxUsdMicros);
    if (!over || crossing.ended) return;
    const running = this.lanes.filter((lane) => !lane.ended);
    const [victim] = preemptionOrder(
      running.map((lane) => ({ lane, tier: lane.plan.tier, startedAt: lane.startedAt })),
    );
    const message = 'the budget ran out while the lanes were streaming';
    if (victim && running.length > 1) {
      const reason = { code: 'preempted', message: `EPREEMPT: ${message}` };
      this.end(victim.lane, { type: 'CANCEL', reason, usage: victim.lane.used() });
      return;
    }
    this.end(crossing, { type: 'FAIL', code: 'EBUDGET', message, usage: crossing.used() });
  }

  // Reports

  private push(lane: RunningLane, report: FeedReport, withinMs: number | null): void {
    if (this.detached) return;
    const at = this.ports.now();
    const last = this.outbox.findLast((said) => said.lane === lane.plan.laneId);
    if (report.type === 'PARTIAL' && last?.type === 'PARTIAL') {
      // One report for all that a lane has said since the last flush; its time stays that of the first words.
      Object.assign(last, { ...report, text: last.text + report.text });
    } else {
      this.outbox.push({ ...report, lane: lane.plan.laneId, at, attempt: this.attempt });
    }
    if (withinMs !== null) this.flushWithin(withinMs);
  }

  private flushWithin(ms: number): void {
    const due = this.ports.now() + ms;
    if (due >= this.flushDue) return;
    this.flushDue = due;
    if (this.flushTimer) clearTimeout(this.flushTimer);
    this.flushTimer = setTimeout(() => this.flush(), ms);
  }

  private flush(): void {
    this.flushTimer = null;
    this.flushDue = Infinity;
    // What is left when every lane has ended goes with the activity's own completion: no signal for it.
    if (this.outbox.length === 0 || this.lanes.every((lane) => lane.ended)) return;
    const reports = this.outbox;
    this.outbox = [];
    this.seq += 1;
    this.noteFlushed();
    const { workId, group } = this.input;
    const batch: GroupReport = { group, attempt: this.attempt, seq: this.seq, reports };
    this.flushing = this.flushing.then(async () => {
      try {
        if (!this.detached) await this.ports.link.report(workId, batch);
      } catch (error) {
        if (error instanceof WorkGoneError) this.abandon();
        else this.fail(error);
      }
    });
  }

  private clearTimers(): void {
    if (this.flushTimer) clearTimeout(this.flushTimer);
    if (this.digestTimer) clearTimeout(this.digestTimer);
    this.flushTimer = null;
    this.digestTimer = null;
  }

  // The digest

  private votes(): Vote[] {
    const own = this.lanes.flatMap((lane): Vote[] => {
      if (lane.ended || lane.text.trim() === '') return [];
      const { laneId, weight, tier } = lane.plan;
      return [{ laneId, order: 0, weight, tier, answer: lane.text, final: false, endedAt: null }];
    });
    const ended = this.outboxFinals();
    return [...this.input.others, ...ended, ...own].map((vote, order) => ({ ...vote, order }));
  }

  private readonly finals: Vote[] = [];
  private outboxFinals(): Vote[] {
    for (const report of this.outbox) {
      if (report.type !== 'FINAL' || this.finals.some((vote) => vote.laneId === report.lane)) continue;
      const lane = this.lanes.find((candidate) => candidate.plan.laneId === report.lane);
      if (!lane) continue;
      const { laneId, weight, tier } = lane.plan;
      const answer = report.answer ?? lane.text;
      this.finals.push({ laneId, order: 0, weight, tier, answer, final: true, endedAt: report.at });
    }
    return this.finals;
  }

  private considerDigest(): void {
    const { policy } = this.input;
    if (!policy.count_partials || policy.profile === 'simple' || policy.agreement.method === 'judge') return;
    if (this.digestTimer !== null) return;
    const wait = Math.max(digestMs, this.nextDigestAt - this.ports.now());
    this.digestTimer = setTimeout(() => this.digest(), wait);
  }

  private digest(): void {
    this.digestTimer = null;
    const before = this.ports.now();
    const matters = this.couldDecide();
    const cost = this.ports.now() - before;
    if (matters) {
      this.digests += 1;
      this.flush();
    }
    // Rarer as they add up, so that a long stream stays a short history; and never more than a twentieth of the time.
    this.nextDigestAt = this.ports.now() + Math.max(digestMs * (1 + this.digests / 8), cost * 20);
    if (this.outbox.length > 0) this.considerDigest();
  }

  private view(): NonNullable<LaneGroup['flushed']> {
    const { policy } = this.input;
    const votes = this.votes();
    const value = agreementOf(votes, policy.agreement);
    const leader = value.leader;
    const answer = votes.find((vote) => vote.laneId === leader?.representative)?.answer ?? null;
    const quorum = votes.length >= policy.quorum_min && atLeast(value.value, policy.threshold);
    return { value, answer, quorum };
  }

  private noteFlushed(): void {
    this.flushed = this.view();
  }

  /** Whether the leading group, the quorum or the early exit could look different to the workflow than it did last. */
  private couldDecide(): boolean {
    const { policy } = this.input;
    const now = this.view();
    const { flushed } = this;
    if (!flushed) return now.quorum;
    if (flushed.quorum !== now.quorum) return true;
    if (!now.quorum) return false;
    const early = policy.early_exit.threshold;
    if (atLeast(flushed.value.value, early) !== atLeast(now.value.value, early)) return true;
    if (flushed.answer === null || now.answer === null) return flushed.answer !== now.answer;
    const pair = [flushed.answer, now.answer].map(
      (answer, order): Vote => ({
        laneId: String(order),
        order,
        weight: 1,
        tier: 'silver',
        answer,
        final: true,
        endedAt: 0,
      }),
    );
    return agreementOf(pair, policy.agreement).groups.length > 1;
  }

  // Watchers

  private publish(lane: RunningLane, offset: number, text: string): void {
    const { workId } = this.input;
    if (text === '' || !this.ports.bus.isWatched(workId)) return;
    this.ports.bus.publish(workId, { type: 'partial', lane_id: lane.plan.laneId, attempt: this.attempt, offset, text });
  }

  private publishText(): void {
    for (const lane of this.lanes) this.publish(lane, 0, lane.text);
  }
}

const describe = (error: unknown): { code: string; message: string } => {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EAGENTDOWN';
  return { code, message };
};
