import type { ControlFrame, Frame } from '../src/contracts/frames.js';
import { isVote, type Vote } from '../src/domain/agreement.js';
import { add, noAmount } from '../src/domain/budget.js';
import {
  feedCounts,
  feedDue,
  feedFrame,
  feedTick,
  usageOf,
  wantsData,
  type Fed,
  type FeedReport,
} from '../src/domain/feed.js';
import type { LaneReport } from '../src/domain/lane.js';
import { preemptionOrder } from '../src/domain/tier.js';
import { codeOf } from '../src/tracing.js';
import type { Directives } from '../workflows/messages.js';
import { Digest } from './digest.js';
import { WorkGoneError, type GroupInput, type GroupPorts } from './group.js';
import { LaneCall } from './lane-call.js';
import type { LaneEnd } from './metrics.js';
import { Outbox } from './outbox.js';
import { RunningLane } from './running-lane.js';

/** Reports that end or pause something are sent after this pause, so that lanes that end together cost one signal. */
const coalesceMs = 5;
/** A dispatch or a first partial alone may wait a little longer: in a quick session the end overtakes it. */
const unhurriedMs = 40;
/**
 * Runs the lanes of one session that share a worker's queue. Tokens go to watchers over the bus; what decides goes to the
 * workflow, coarsely: ends and pauses at once, streaming text as a digest when the leading group or the quorum could change.
 */
export class LaneGroup {
  private readonly lanes: RunningLane[];
  private readonly outbox: Outbox;
  private readonly digest: Digest;
  /** Answers of lanes that have ended, which the digest weighs beside those that stream. */
  private readonly finals: Vote[] = [];
  private seq = 0;
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
    const allEnded = (): boolean => this.lanes.every((lane) => lane.ended);
    this.outbox = new Outbox(
      ports.now,
      () => this.digest.noteFlushed(),
      (reports) => this.send(reports),
      allEnded,
    );
    this.digest = new Digest(
      input.policy,
      ports.now,
      () => this.votes(),
      () => this.outbox.flush(),
      () => !this.outbox.isEmpty,
    );
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
        this.digest.stop();
        const rest = await this.outbox.take();
        if (this.failure) throw this.failure;
        this.settleDone(rest);
      })
      .catch((error: unknown) => this.failDone(error instanceof Error ? error : new Error(String(error))))
      .finally(unsubscribe);
  }

  /** Ends every call without a word to the workflow: it is over, or another attempt will take its place. */
  abandon(): void {
    this.detached = true;
    for (const lane of this.lanes) lane.stop('CANCELLED', 'abandoned');
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
      if (lane.ended || !directives.ended.includes(lane.setup.laneId)) continue;
      const usage = lane.used();
      lane.stop('CANCELLED', null, usage);
      this.push(lane, { type: 'SETTLE', usage, counts: feedCounts(lane.feed) }, coalesceMs);
    }
  }

  private fail(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
    for (const lane of this.lanes) lane.stop('FAILED', codeOf(error));
  }

  private async run(lane: RunningLane): Promise<void> {
    const { setup, controller } = lane;
    lane.call = new LaneCall(this.input, setup, this.attempt, this.ports.metrics, this.ports.now);
    if (setup.timeoutMs !== null) {
      const timeoutMs = setup.timeoutMs;
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
          laneId: setup.laneId,
          personaId: setup.personaId,
          instructions: setup.instructions,
          diversitySeed: setup.diversitySeed,
          prompt: this.input.prompt,
          adapter: setup.adapter,
          maxTokens: null,
          callsBefore: 0,
        },
        {
          signal: controller.signal,
          onControl: (frame) => this.hear(lane, frame),
          onUsage: (usage) => (lane.usage = usageOf(lane.feed, usage)),
          trace: lane.call.context,
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
        this.digest.consider();
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
    // A call that was never dispatched used nothing.
    const used = report.type === 'DISPATCH_ERR' ? noAmount : 'usage' in report ? report.usage : undefined;
    lane.stop(endOf(report), reasonOf(report), used);
    if (report.type === 'FINAL') {
      if (report.answer !== undefined) this.outbox.dropText(lane.setup.laneId);
      this.finals.push(voteOf(lane, report.answer ?? lane.text, this.ports.now()));
    }
    this.push(lane, report, coalesceMs);
  }

  private push(lane: RunningLane, report: FeedReport, withinMs: number | null): void {
    if (!this.detached) this.outbox.push(lane.setup.laneId, this.attempt, report, withinMs);
  }

  private async send(reports: LaneReport[]): Promise<void> {
    if (this.detached) return;
    this.seq += 1;
    const { workId, group } = this.input;
    try {
      await this.ports.link.report(workId, { group, attempt: this.attempt, seq: this.seq, reports });
    } catch (error) {
      if (error instanceof WorkGoneError) this.abandon();
      else this.fail(error);
    }
  }

  private votes(): Vote[] {
    const streaming = this.lanes.flatMap((lane) => (lane.ended ? [] : [voteOf(lane, lane.text, null)]));
    const { agreement } = this.input.policy;
    return [...this.input.others, ...this.finals, ...streaming]
      .filter((vote) => isVote(vote, agreement))
      .map((vote, order) => ({ ...vote, order }));
  }

  // Budget (spec 00 "during streaming")

  private checkBudget(crossing: RunningLane): void {
    const { tokens, usdMicros } = this.input.budget;
    if (tokens === null && usdMicros === null) return;
    const used = this.lanes.map((lane) => lane.used()).reduce(add, { tokens: 0, usdMicros: 0 });
    const over = (tokens !== null && used.tokens > tokens) || (usdMicros !== null && used.usdMicros > usdMicros);
    if (!over || crossing.ended) return;
    const running = this.lanes.filter((lane) => !lane.ended);
    const [victim] = preemptionOrder(
      running.map((lane) => ({ lane, tier: lane.setup.tier, startedAt: lane.startedAt })),
    );
    const message = 'the budget ran out while the lanes were streaming';
    if (victim && running.length > 1) {
      const reason = { code: 'preempted', message: `EPREEMPT: ${message}` };
      this.end(victim.lane, { type: 'CANCEL', reason, usage: victim.lane.used() });
      return;
    }
    this.end(crossing, { type: 'FAIL', code: 'EBUDGET', message, usage: crossing.used() });
  }

  // Watchers

  private publish(lane: RunningLane, offset: number, text: string): void {
    const { workId } = this.input;
    if (text === '' || !this.ports.bus.isWatched(workId)) return;
    this.ports.bus.publish(workId, {
      type: 'partial',
      lane_id: lane.setup.laneId,
      attempt: this.attempt,
      offset,
      text,
    });
  }

  private publishText(): void {
    for (const lane of this.lanes) this.publish(lane, 0, lane.text);
  }
}

const voteOf = ({ setup }: RunningLane, answer: Vote['answer'], endedAt: number | null): Vote => ({
  laneId: setup.laneId,
  order: 0,
  weight: setup.weight,
  tier: setup.tier,
  answer,
  final: endedAt !== null,
  endedAt,
});

const describe = (error: unknown): { code: string; message: string } => {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EAGENTDOWN';
  return { code, message };
};

const endOf = ({ type }: FeedReport): LaneEnd =>
  type === 'FINAL' ? 'FINALIZED' : type === 'CANCEL' ? 'CANCELLED' : 'FAILED';

const reasonOf = (report: FeedReport): string | null => {
  if (report.type === 'CANCEL') return report.reason.code;
  if (report.type === 'TIMEOUT') return 'ETIMEOUT';
  return 'code' in report ? report.code : null;
};
