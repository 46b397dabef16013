import { isVote, type Vote } from '../src/domain/agreement.js';
import { answerFault, jsonBytes, textBytes } from '../src/domain/answer-limit.js';
import { add, noAmount } from '../src/domain/budget.js';
import type { FeedReport } from '../src/domain/feed.js';
import type { LaneReport } from '../src/domain/lane.js';
import { preemptionOrder } from '../src/domain/tier.js';
import { codeOf } from '../src/tracing.js';
import type { Directives } from '../workflows/messages.js';
import { Digest } from './digest.js';
import { WorkGoneError, type GroupInput, type GroupPorts } from './group.js';
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
    const take = (lane: RunningLane, report: FeedReport): void => this.take(lane, report);
    this.lanes = input.lanes
      .filter((lane) => !skip.includes(lane.laneId))
      .map((lane) => new RunningLane(lane, input, ports, take));
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
    const runs = this.lanes.map((lane) => lane.run(this.attempt));
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
      this.push(lane, { type: 'SETTLE', usage, counts: lane.counts }, coalesceMs);
    }
  }

  private fail(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
    for (const lane of this.lanes) lane.stop('FAILED', codeOf(error));
  }

  private take(lane: RunningLane, said: FeedReport): void {
    const report = this.fitting(lane, said);
    switch (report.type) {
      case 'DISPATCH_OK':
        this.push(lane, report, unhurriedMs);
        return;
      case 'PARTIAL': {
        const first = lane.text === '';
        this.publishNext(lane, report.text);
        this.push(lane, report, first ? unhurriedMs : null);
        this.digest.consider();
        this.checkBudget(lane);
        return;
      }
      case 'FINAL':
        this.publishNext(lane, report.text ?? '');
        this.end(lane, report);
        return;
      case 'DISPATCH_ERR':
      case 'FAIL':
      case 'TIMEOUT':
        this.end(lane, report);
        return;
      default:
        this.push(lane, report, coalesceMs);
    }
  }

  /** An answer that the workflow could not take fails its lane here already: a batch of reports is of limited size too. */
  private fitting(lane: RunningLane, report: FeedReport): FeedReport {
    if (report.type !== 'PARTIAL' && report.type !== 'FINAL') return report;
    const isReplaced = report.type === 'FINAL' && report.answer !== undefined;
    const own = isReplaced ? jsonBytes(report.answer ?? null) : lane.bytes + textBytes(report.text ?? '');
    const others = this.lanes.reduce((sum, other) => (other === lane ? sum : sum + other.bytes), 0);
    const message = answerFault(this.input.prompt, others + own);
    if (message !== null) return { type: 'FAIL', code: 'EPROTO', message, usage: lane.used(), counts: lane.counts };
    lane.bytes = own;
    return report;
  }

  private end(lane: RunningLane, report: FeedReport): void {
    if (lane.ended) return;
    // A call that was never dispatched used nothing.
    const used = report.type === 'DISPATCH_ERR' ? noAmount : 'usage' in report ? report.usage : undefined;
    lane.stop(endOf(report), reasonOf(report), used);
    if (report.type === 'FINAL') {
      if (report.answer !== undefined) this.outbox.dropText(lane.setup.laneId);
      this.finals.push(lane.vote(report.answer ?? lane.text, this.ports.now()));
    }
    this.push(lane, report, coalesceMs);
  }

  private push(lane: RunningLane, report: FeedReport, withinMs: number | null): void {
    if (!this.detached) this.outbox.push(lane.setup.laneId, this.attempt, report, withinMs);
  }

  private async send(reports: LaneReport[]): Promise<void> {
    if (this.detached) return;
    this.seq += 1;
    const { workId, group, epoch } = this.input;
    const report = { group, attempt: this.attempt, seq: this.seq, ...(epoch !== undefined && { epoch }), reports };
    try {
      await this.ports.link.report(workId, report);
    } catch (error) {
      if (error instanceof WorkGoneError) this.abandon();
      else this.fail(error);
    }
  }

  private votes(): Vote[] {
    const streaming = this.lanes.flatMap((lane) => (lane.ended ? [] : [lane.vote(lane.text, null)]));
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

  private publishNext(lane: RunningLane, text: string): void {
    this.publish(lane, lane.text.length, text);
    lane.text += text;
  }

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

const endOf = ({ type }: FeedReport): LaneEnd =>
  type === 'FINAL' ? 'FINALIZED' : type === 'CANCEL' ? 'CANCELLED' : 'FAILED';

const reasonOf = (report: FeedReport): string | null => {
  if (report.type === 'CANCEL') return report.reason.code;
  if (report.type === 'TIMEOUT') return 'ETIMEOUT';
  return 'code' in report ? report.code : null;
};
