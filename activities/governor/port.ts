import type { Tier } from '../../src/contracts/session.js';
import type { Ending } from '../../src/domain/governor/ending.js';

/** A call that a provider's limits are asked for. */
export interface ProviderCall {
  provider: string;
  model: string;
  tenant: string;
  tier: Tier;
  /** The most that it may use: prompt and longest answer. */
  tokens: number;
}

/** How an admitted call ended: `tokens` null is not known, and counted as what was asked for. */
export type CallEnd = Pick<Ending, 'outcome' | 'tokens'> & Partial<Pick<Ending, 'retryAfterMs'>>;

/** A call that may be made now. */
export interface Admission {
  /** It is on its way for certain; only the first word counts. Told late, it counts for longer. */
  sent(): void;
  /** Only the first end counts. One that was never sent is given back. */
  end(end: CallEnd): void;
}

/** Keeps the limits of providers over all workers, and knows of one worker's calls. */
export interface ProviderGovernor {
  /** Whether anything limits calls of a provider. `isModel`: it is one that costs money, whose calls at a time are limited by preset. */
  governs(provider: string, isModel: boolean): boolean;
  /**
   * Settles once the call may be made; it has to be made at once then, and ended in any case.
   * @throws ParleyError EWINDOW for a call that its limits never admit, EDRAINING when the worker stops
   * @throws what `signal` was aborted with
   */
  admit(call: ProviderCall, signal: AbortSignal): Promise<Admission>;
  /** Tells what has ended, and refuses what still waits. May be called twice. */
  close(): Promise<void>;
}
