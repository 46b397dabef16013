import { condition, setWorkflowOptions, type Workflow, workflowInfo } from '@temporalio/workflow';
import { Alarm } from './alarm.js';
import { HeldAnswers } from './held-answers.js';

/** For so long nothing was said, and nothing that it knows matters, when an owner ends itself; who needs it next starts another. */
export const idleMs = 3_600_000;
/** Events after which it continues as new: whoever takes over from a dead worker replays them first. */
const longestHistory = 1_500;

/**
 * What one run of a workflow does that owns what calls of all workers share. Nothing but `step` changes its state, once for all that
 * came in together.
 */
export abstract class OwnerRun<Event, Mail> {
  protected events: Event[] = [];
  protected idleSince: number;
  protected readonly answers: HeldAnswers<Mail>;
  protected readonly alarm: Alarm;
  protected isDue = true;
  private latest = 0;

  constructor(noMail: () => Mail) {
    this.answers = new HeldAnswers(() => this.now(), noMail);
    this.alarm = new Alarm(
      () => this.now(),
      () => (this.isDue = true),
    );
    this.idleSince = this.now();
  }

  get isStirred(): boolean {
    return this.isDue || this.events.length > 0;
  }

  /** Nobody has wanted anything for long, and nothing that it knows matters any more. */
  abstract get isSpent(): boolean;

  /** Takes in what has come, and tells who waits what became of it. */
  abstract step(): void;

  close = (): Promise<void> => this.answers.close();
  reopen = (): void => this.answers.reopen();

  protected now(): number {
    return (this.latest = Math.max(this.latest, Date.now()));
  }

  /** What came since it was last asked, and `others` with it. */
  protected takeEvents(now: number, others: readonly Event[] = []): Event[] {
    const events = [...this.events, ...others];
    this.events = [];
    this.isDue = false;
    if (events.length > 0) this.idleSince = now;
    return events;
  }
}

/** Steps whenever something stirs, until it is of no use any more. @param goOn continues as new with what the run knows */
export const serve = async <Event, Mail>(run: OwnerRun<Event, Mail>, goOn: () => Promise<never>): Promise<void> => {
  for (;;) {
    await condition(() => run.isStirred);
    run.step();
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    const isLong = continueAsNewSuggested || historyLength >= longestHistory;
    if (!isLong && !run.isSpent) continue;
    await run.close();
    if (run.isStirred) run.step();
    if (isLong) await goOn();
    if (run.isSpent) return;
    run.reopen();
  }
};

/** Whichever version runs now: work of every version waits for an owner. A worker without a version may not speak of one. */
export const runsOnNewest = (owner: Workflow): void =>
  setWorkflowOptions(
    () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'AUTO_UPGRADE' } : {}),
    owner,
  );
