import { leftOut } from './fitted.js';

/** The beginning and the end of what a program says, however much that is. */
export class ShownOutput {
  private head = '';
  private tail = '';
  private seen = 0;
  private readonly half: number;

  /** @param chars most characters that are kept */
  constructor(chars: number) {
    this.half = Math.floor(chars / 2);
  }

  add(text: string): void {
    this.seen += text.length;
    const room = this.half - this.head.length;
    this.head += text.slice(0, room);
    this.tail = (this.tail + text.slice(Math.max(0, room))).slice(-this.half);
  }

  text(): string {
    const left = this.seen - this.head.length - this.tail.length;
    return left === 0 ? this.head + this.tail : this.head + leftOut(left, this.seen) + this.tail;
  }
}
