/** For who looks, and looks again when there may be something new: when `notice` is called, or one of the signals aborts. */
export class Notices {
  #isNew = true;
  #wake: () => void = () => {};
  readonly #signals: readonly AbortSignal[];

  constructor(...signals: AbortSignal[]) {
    this.#signals = signals;
    for (const signal of signals) signal.addEventListener('abort', this.notice);
  }

  readonly notice = (): void => {
    this.#isNew = true;
    this.#wake();
  };

  /** Before a look: what is noticed from here on ends the wait after it. */
  looks(): void {
    this.#isNew = false;
  }

  /** Until something is noticed; at once where something was since the last look. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#isNew) resolve();
    });
  }

  close(): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this.notice);
  }
}
