import { allHandlersFinished, condition } from '@temporalio/workflow';

/** Answers held back at a time: a server takes ten updates of a workflow at once, and others have to get through. */
const mostHeld = 6;
/** By which each worker that waits lengthens the pause of those whose answers are not held back. */
const pauseMsPerWorker = 100;

/** A worker's open question. */
interface Held {
  worker: string;
  since: number;
  isOver: boolean;
  waitMs: number;
}

/** What a worker is told of its question, beside what it asked. */
export interface HeldAnswer<Mail> {
  mail: Mail;
  heldMs: number;
  /** How long to wait before asking again, as too many wait at a time; 0: no time. */
  waitMs: number;
}

/** Questions of workers that are answered once there is something to tell them. */
export class HeldAnswers<Mail> {
  private held: Held[] = [];
  private readonly mail = new Map<string, Mail>();
  private isClosing = false;

  constructor(
    private readonly now: () => number,
    private readonly noMail: () => Mail,
  ) {}

  /** What the worker is told with its next answer. */
  mailFor(worker: string): Mail {
    const mail = this.mail.get(worker) ?? this.noMail();
    this.mail.set(worker, mail);
    return mail;
  }

  async hold(worker: string): Promise<HeldAnswer<Mail>> {
    const held: Held = { worker, since: this.now(), isOver: this.isClosing, waitMs: 0 };
    // A worker asks one question at a time: what it asked before was lost on the way.
    for (const before of this.held) if (before.worker === worker) before.isOver = true;
    this.held.push(held);
    await condition(() => held.isOver);
    this.held = this.held.filter((each) => each !== held);
    const isLatest = !this.held.some((each) => each.worker === worker);
    const mail = (isLatest && this.mail.get(worker)) || this.noMail();
    if (isLatest) this.mail.delete(worker);
    return { mail, heldMs: this.now() - held.since, waitMs: held.waitMs };
  }

  /**
   * Answers who has something to hear, or nothing to wait for; of the others the oldest when they are too many.
   * @param waiting workers that have calls waiting
   * @param isKnown whether anything was heard of a worker: what is for others is thrown away
   */
  release(waiting: ReadonlySet<string>, isKnown: (worker: string) => boolean): void {
    for (const worker of this.mail.keys()) if (!isKnown(worker)) this.mail.delete(worker);
    for (const held of this.held) held.isOver ||= this.mail.has(held.worker) || !waiting.has(held.worker);
    const open = this.held.filter(({ isOver }) => !isOver);
    for (const held of open.slice(0, Math.max(0, open.length - mostHeld))) {
      held.isOver = true;
      held.waitMs = pauseMsPerWorker * waiting.size;
    }
  }

  /** Answers all questions, so that the run can end. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const held of this.held) held.isOver = true;
    await condition(allHandlersFinished);
  }

  reopen(): void {
    this.isClosing = false;
  }
}
