import type { FeedReport } from '../src/domain/feed.js';
import type { LaneReport } from '../src/domain/lane.js';

/**
 * Reports that wait to be signalled. Those of one moment leave together, in order, and one batch after another: the
 * workflow hears of each lane's life in the order in which it was lived.
 */
export class Outbox {
  private reports: LaneReport[] = [];
  private timer: NodeJS.Timeout | null = null;
  private due = Infinity;
  private sending: Promise<void> = Promise.resolve();

  /**
   * @param leaving a batch is about to leave with all there is
   * @param send hands it over; it settles errors itself
   * @param holdsBack whether what is there is to wait for `take`: the activity's own completion carries the rest
   */
  constructor(
    private readonly now: () => number,
    private readonly leaving: () => void,
    private readonly send: (reports: LaneReport[]) => Promise<void>,
    private readonly holdsBack: () => boolean,
  ) {}

  get isEmpty(): boolean {
    return this.reports.length === 0;
  }

  /** `withinMs`: when it has to leave at the latest; null: with whatever leaves next. */
  push(lane: string, attempt: number, report: FeedReport, withinMs: number | null): void {
    const last = this.reports.findLast((said) => said.lane === lane);
    if (report.type === 'PARTIAL' && last?.type === 'PARTIAL') {
      // One report for all that a lane has said since the last batch; its time stays that of the first words.
      Object.assign(last, { ...report, text: last.text + report.text });
    } else {
      this.reports.push({ ...report, lane, at: this.now(), attempt });
    }
    if (withinMs !== null) this.flushWithin(withinMs);
  }

  /** A final with an answer replaces what was streamed: text that was not reported yet need not enter history. */
  dropText(lane: string): void {
    for (const report of this.reports) if (report.type === 'PARTIAL' && report.lane === lane) report.text = '';
  }

  flush(): void {
    this.stop();
    if (this.isEmpty || this.holdsBack()) return;
    this.leaving();
    const reports = this.reports;
    this.reports = [];
    this.sending = this.sending.then(() => this.send(reports));
  }

  /** What was not sent, once everything that was has arrived. */
  async take(): Promise<LaneReport[]> {
    this.stop();
    await this.sending;
    return this.reports;
  }

  private flushWithin(ms: number): void {
    const due = this.now() + ms;
    if (due >= this.due) return;
    this.stop();
    this.due = due;
    this.timer = setTimeout(() => this.flush(), ms);
  }

  private stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.due = Infinity;
  }
}
