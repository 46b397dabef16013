/** Time as an adapter sees it. A port, so that a timeline can be played in a test without waiting for it. */
export interface Clock {
  /** Milliseconds, monotonic, from any origin. */
  now(): number;
  /** Calls back once after `ms` (0 or more), never before it has returned. @returns a function that forgets the call. */
  after(ms: number, callback: () => void): () => void;
}

/** The longest delay `setTimeout` keeps to; a longer one fires at once. */
const longestTimeoutMs = 2_147_483_647;

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, callback) => {
    let timer: NodeJS.Timeout;
    const arm = (remainingMs: number): void => {
      const step = Math.min(remainingMs, longestTimeoutMs);
      timer = setTimeout(() => (remainingMs > step ? arm(remainingMs - step) : callback()), step);
    };
    arm(Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};

/** Settles when the clock reaches `at`, or at once when `signal` aborts; whoever waits looks at the signal afterwards. */
export const waitUntil = async (clock: Clock, at: number, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const remainingMs = at - clock.now();
    if (remainingMs <= 0) return;
    await new Promise<void>((resolve) => {
      const forget = clock.after(remainingMs, done);
      function done(): void {
        forget();
        signal.removeEventListener('abort', done);
        resolve();
      }
      signal.addEventListener('abort', done, { once: true });
    });
  }
};

/** Settles when `signal` aborts: an agent that stays silent for ever. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
