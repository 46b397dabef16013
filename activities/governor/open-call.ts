import type { Admission, CallEnd } from './port.js';

/** An admitted call, until it has ended. */
export class OpenCall implements Admission {
  private sentAt: number | null = null;
  private isTold = false;
  private isOver = false;

  constructor(
    private readonly now: () => number,
    /** `agoMs`: when it was sent, before now; null: it was not. */
    private readonly ended: (end: CallEnd, agoMs: number | null) => void,
  ) {}

  sent(): void {
    this.sentAt ??= this.now();
  }

  end(end: CallEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.ended(end, this.sentAt === null ? null : this.agoMs(this.now()));
  }

  /** Whether it is under way for so long that it is told before its end; true once. */
  isWorthTelling(now: number, afterMs: number): boolean {
    if (this.isTold || this.sentAt === null || now - this.sentAt < afterMs) return false;
    return (this.isTold = true);
  }

  agoMs(now: number): number {
    return Math.max(0, now - (this.sentAt ?? now));
  }
}
