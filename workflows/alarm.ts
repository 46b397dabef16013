import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/** One timer at a time: an alarm that rings too early costs less than one that is set anew at each step. */
export class Alarm {
  private set: { at: number; scope: CancellationScope } | null = null;

  constructor(
    private readonly now: () => number,
    private readonly ring: () => void,
  ) {}

  /** Rings at `at` or before, epoch milliseconds. */
  setAt(at: number): void {
    const now = this.now();
    if (this.set && this.set.at <= at) return;
    this.set?.scope.cancel();
    const scope = new CancellationScope();
    const alarm = { at, scope };
    this.set = alarm;
    void scope
      .run(() => sleep(Math.max(1, at - now)))
      .then(
        () => {
          if (this.set !== alarm) return;
          this.set = null;
          this.ring();
        },
        (error: unknown) => {
          if (!isCancellation(error)) throw error;
        },
      );
  }
}
