import type { Admission, CallEnd } from './port.js';

/** After so long a request that a connection has begun to send has arrived. */
const arrivedAfterMs = 1_000;

/** What a provider says of how long to wait: `retry-after-ms`, or Retry-After in seconds or as a date; null: nothing. */
export const retryAfterMs = (headers: Headers, now: number): number | null => {
  const milliseconds = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (milliseconds >= 0) return Math.ceil(milliseconds);
  const given = headers.get('retry-after');
  if (given === null) return null;
  const seconds = Number(given);
  if (given.trim() !== '' && seconds >= 0) return Math.ceil(seconds * 1_000);
  const at = Date.parse(given);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
};

/** How a call has ended whose answer is an error; null: it is no error. */
const endOf = ({ status, headers }: Response): CallEnd | null => {
  if (status < 400) return null;
  const waitMs = retryAfterMs(headers, Date.now());
  const isThrottled = status === 429 || (status === 503 && waitMs !== null);
  if (isThrottled) return { outcome: 'throttled', tokens: 0, retryAfterMs: waitMs };
  // What it refuses for what it is says nothing against the provider. One that breaks down may have counted the tokens.
  const isFailed = status >= 500 || status === 408;
  return isFailed ? { outcome: 'failed', tokens: null } : { outcome: 'answered', tokens: 0 };
};

/**
 * The requests of one call of a model, its retries among them, each of which is admitted before it is made. Whoever reads the
 * answer says how it ended.
 */
export class GovernedFetch {
  private admission: Admission | null = null;
  private timer: NodeJS.Timeout | undefined;
  private isStarted = false;

  constructor(
    private readonly admit: (body: string) => Promise<Admission>,
    signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.end({ outcome: 'unused', tokens: null }), { once: true });
  }

  over(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
    return async (input, init) => {
      // Nobody has said how the last one ended, and tries again.
      this.end({ outcome: 'failed', tokens: null });
      const admission = await this.admit(typeof init?.body === 'string' ? init.body : '');
      this.admission = admission;
      this.isStarted = false;
      let response: Response;
      try {
        response = await fetch(input, init);
      } catch (error) {
        const isStopped = init?.signal?.aborted === true;
        this.end({ outcome: isStopped ? 'unused' : 'failed', tokens: this.isStarted ? null : 0 });
        throw error;
      }
      admission.sent();
      const end = endOf(response);
      if (end) this.end(end);
      return response;
    };
  }

  /** A connection has begun to send a request. */
  started(): void {
    const { admission } = this;
    this.isStarted = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => admission?.sent(), arrivedAfterMs);
  }

  /** Only the first end of a request counts. What it used of an answer that is not read to its end is not known. */
  end(end: CallEnd): void {
    clearTimeout(this.timer);
    if (this.isStarted) this.admission?.sent();
    this.admission?.end(end);
    this.admission = null;
  }
}
