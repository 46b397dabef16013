import { setTimeout as sleep } from 'node:timers/promises';
import type { Demand, GovernorSettings } from '../../src/domain/governor/state.js';
import type { GovernorAnswer, GovernorSaid } from '../../src/domain/governor/messages.js';
import type { GovernorEvent } from '../../src/domain/governor/hear.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { GovernorLink } from './link.js';
import type { GovernorMetrics } from './metrics.js';
import { OpenCall } from './open-call.js';
import type { Admission, ProviderCall } from './port.js';

/** What is said within this goes together. */
const batchMs = 15;
/** A worker says this often in a lease that it is alive. */
const beatsInLease = 3;
const firstRetryMs = 200;
const longestRetryMs = 5_000;

export interface LineOptions {
  settings: GovernorSettings;
  link: GovernorLink;
  /** Which worker it is, unlike any other that there is or was. */
  worker: string;
  metrics: GovernorMetrics;
  onError: (error: unknown, what: string) => void;
  /** Milliseconds of a clock that only goes forward. */
  now: () => number;
}

interface WaitingCall {
  demand: Demand;
  admitted: (admission: Admission) => void;
  refused: (error: unknown) => void;
}

/** Something to say, as of when it is said. */
type Saying = (now: number) => GovernorEvent;

const stopping = (): ParleyError => new ParleyError('EDRAINING', 'this worker is stopping and takes no new calls');

/** Ends early, and quietly, when `signal` is aborted. */
const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal }).catch(() => undefined);

/**
 * One worker's calls of one provider, and its conversation with the governor: while calls wait one question is open, and what is
 * to be said meanwhile goes beside it. Whatever is lost on the way is said again: nothing of it counts twice.
 */
export class ProviderLine {
  private readonly waiting = new Map<string, WaitingCall>();
  private readonly open = new Map<string, OpenCall>();
  private toSay: Saying[] = [];
  private made = 0;
  private heardRunId: string | null = null;
  private isToIntroduce = true;
  private conversation: Promise<void> | null = null;
  private telling: Promise<void> | null = null;
  private batch: NodeJS.Timeout | null = null;
  private beat: NodeJS.Timeout | null = null;
  private readonly closing = new AbortController();

  constructor(private readonly options: LineOptions) {}

  /** @see ProviderGovernor.admit */
  admit({ model, tenant, tier, tokens }: ProviderCall, signal: AbortSignal): Promise<Admission> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.closing.signal.aborted) return reject(stopping());
      const { worker, now } = this.options;
      const demand: Demand = { id: this.nextId(), tenant, tier, model, tokens, worker };
      const since = now();
      const over = (): void => {
        signal.removeEventListener('abort', onAbort);
        this.observe(now() - since);
      };
      const call: WaitingCall = {
        demand,
        admitted: (admission) => (over(), resolve(admission)),
        refused: (error) => (over(), reject(error)),
      };
      const onAbort = (): void => this.withdraw(call, signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.wait(call);
    });
  }

  /** Says what is still to be said, within two seconds: a lease ends what is not heard. */
  async close(): Promise<void> {
    this.closing.abort();
    for (const call of [...this.waiting.values()]) this.withdraw(call, stopping());
    this.flush();
    const patience = new AbortController();
    await Promise.race([this.telling, pause(2_000, patience.signal)]);
    patience.abort();
    if (this.beat) clearInterval(this.beat);
    if (this.batch) clearTimeout(this.batch);
  }

  private nextId(): string {
    this.made += 1;
    return `${this.options.worker}/${this.made}`;
  }

  private observe(waitedMs: number | null = null): void {
    const { metrics, settings } = this.options;
    metrics.counted(settings.provider, { waiting: this.waiting.size, underWay: this.open.size });
    if (waitedMs !== null) metrics.waited(settings.provider, waitedMs);
    const isBusy = this.waiting.size + this.open.size > 0;
    if (isBusy === (this.beat !== null)) return;
    if (this.beat) clearInterval(this.beat);
    this.beat = isBusy ? setInterval(() => this.sayAlive(), settings.leaseMs / beatsInLease) : null;
  }

  private wait(call: WaitingCall): void {
    this.waiting.set(call.demand.id, call);
    this.observe();
    this.say(() => ({ type: 'wanted', demand: call.demand }));
  }

  private withdraw({ demand: { id }, refused }: WaitingCall, reason: unknown): void {
    if (!this.waiting.delete(id)) return;
    this.say(() => ({ type: 'withdrawn', id }));
    // It may have been granted in the same moment.
    this.giveBack(id);
    refused(reason);
  }

  private giveBack(id: string): void {
    this.say(() => ({ type: 'ended', id, outcome: 'unused', tokens: null, agoMs: 0, retryAfterMs: null }));
  }

  private sayAlive(): void {
    const { worker, settings, now } = this.options;
    for (const [id, call] of this.open) {
      if (!call.isWorthTelling(now(), settings.windowMs / 4)) continue;
      this.say(() => ({ type: 'sent', id, agoMs: call.agoMs(now()) }));
    }
    this.say(() => ({ type: 'alive', worker, ids: [...this.open.keys()] }));
  }

  private say(saying: Saying): void {
    this.toSay.push(saying);
    this.batch ??= setTimeout(() => this.flush(), batchMs);
  }

  private flush(): void {
    if (this.batch) clearTimeout(this.batch);
    this.batch = null;
    if (this.toSay.length === 0) return;
    if (this.waiting.size > 0 && this.conversation === null) {
      this.conversation = this.converse().finally(() => {
        this.conversation = null;
        this.flush();
      });
    } else this.telling ??= this.tell().finally(() => (this.telling = null));
  }

  private takeSaid(sayings: readonly Saying[]): GovernorSaid {
    const { worker, now, settings } = this.options;
    const events = sayings.map((saying) => saying(now()));
    return { worker, events, ...(this.isToIntroduce && { settings }) };
  }

  /** Asks for as long as calls wait. */
  private async converse(): Promise<void> {
    const { link, settings, onError, now } = this.options;
    let retryMs = firstRetryMs;
    while (this.waiting.size > 0 && !this.closing.signal.aborted) {
      const sayings = this.toSay;
      this.toSay = [];
      const askedAt = now();
      let answer: GovernorAnswer;
      try {
        answer = await link.exchange(settings, this.takeSaid(sayings));
      } catch (error) {
        onError(error, `the limits of ${settings.provider} cannot be asked for; it is tried again`);
        this.toSay = [...sayings, ...this.toSay];
        this.askAgain();
        await pause(retryMs, this.closing.signal);
        retryMs = Math.min(longestRetryMs, retryMs * 2);
        continue;
      }
      retryMs = firstRetryMs;
      this.hear(answer, now() - askedAt - answer.heldMs);
      if (answer.waitMs > 0 && this.waiting.size > 0) await pause(answer.waitMs, this.closing.signal);
    }
  }

  /** Says without asking; what does not arrive is said again. */
  private async tell(): Promise<void> {
    const { link, settings, onError } = this.options;
    let retryMs = firstRetryMs;
    while (this.toSay.length > 0 && (this.waiting.size === 0 || this.conversation !== null)) {
      const sayings = this.toSay;
      this.toSay = [];
      try {
        if (await link.say(settings.provider, this.takeSaid(sayings))) continue;
        // Without a governor nothing is granted; where calls wait, a question is about to start one.
        if (this.conversation === null) continue;
      } catch (error) {
        onError(error, `the governor of ${settings.provider} cannot be told; it is tried again`);
      }
      this.toSay = [...sayings, ...this.toSay];
      if (this.closing.signal.aborted) return;
      await pause(retryMs, this.closing.signal);
      retryMs = Math.min(longestRetryMs, retryMs * 2);
    }
  }

  /** Says all that waits once more: what was heard of it is not known, and a call that is granted already is told again. */
  private askAgain(): void {
    this.isToIntroduce = true;
    for (const { demand } of this.waiting.values()) this.toSay.push(() => ({ type: 'wanted', demand }));
  }

  private hear({ runId, granted, refused }: GovernorAnswer, onTheWayMs: number): void {
    this.isToIntroduce = false;
    for (const { id, leftMs } of granted) this.grant(id, leftMs - onTheWayMs);
    for (const { id, message, retryable } of refused) {
      const call = this.waiting.get(id);
      this.waiting.delete(id);
      call?.refused(new ParleyError('EWINDOW', message, { retryable }));
    }
    if (this.heardRunId !== null && this.heardRunId !== runId) this.askAgain();
    this.heardRunId = runId;
  }

  private grant(id: string, leftMs: number): void {
    const call = this.waiting.get(id);
    if (!call) {
      // Nobody waits for it any more; one that is under way was merely told twice.
      if (!this.open.has(id)) this.giveBack(id);
      return;
    }
    this.waiting.delete(id);
    if (leftMs <= 0) {
      // It was long on its way, and may have been given to another.
      this.giveBack(id);
      this.wait({ ...call, demand: { ...call.demand, id: this.nextId() } });
      return;
    }
    const { now } = this.options;
    const open = new OpenCall(now, (end, agoMs) => {
      this.open.delete(id);
      const endedAt = now();
      if (end.outcome === 'unused' && agoMs !== null)
        this.say((at) => ({ type: 'sent', id, agoMs: at - endedAt + agoMs }));
      this.say((at) => ({
        type: 'ended',
        id,
        outcome: end.outcome,
        tokens: end.tokens,
        agoMs: at - endedAt + (agoMs ?? 0),
        retryAfterMs: end.retryAfterMs ?? null,
      }));
      this.observe();
    });
    this.open.set(id, open);
    call.admitted(open);
  }
}
