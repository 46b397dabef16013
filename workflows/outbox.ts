import { condition } from '@temporalio/workflow';

/** Words that go together at most: each may carry a tool's arguments, or what is new in a context. */
const atOnce = 10;

/**
 * Words to another workflow, in their order. Signals that one task sends may overtake each other: so one is on its way at a time,
 * and what is said meanwhile goes together with the next.
 */
export class Outbox<Word> {
  private readonly waiting: Word[] = [];
  private isSending = false;

  /** @param send must not reject */
  constructor(private readonly send: (words: Word[]) => Promise<void>) {}

  get isEmpty(): boolean {
    return !this.isSending && this.waiting.length === 0;
  }

  push(word: Word): void {
    this.waiting.push(word);
    if (!this.isSending) void this.drain();
  }

  /** Until everything that was said has arrived, or cannot. */
  async flushed(): Promise<void> {
    if (!this.isEmpty) await condition(() => this.isEmpty);
  }

  private async drain(): Promise<void> {
    this.isSending = true;
    // What is said in the same step goes together.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.send(this.waiting.splice(0, atOnce));
    this.isSending = false;
  }
}
