import type { Demand, GovernorSettings } from '../../src/domain/governor/state.js';
import type { GovernorAnswer, GovernorSaid } from '../../src/domain/governor/messages.js';
import type { GovernorEvent } from '../../src/domain/governor/hear.js';
import { ParleyError } from '../../src/domain/errors.js';
import { Conversation, type Saying } from '../owner/conversation.js';
import type { GovernorLink } from './link.js';
import type { GovernorMetrics } from './metrics.js';
import { OpenCall } from './open-call.js';
import type { Admission, ProviderCall } from './port.js';

/** A worker says this often in a lease that it is alive. */
const beatsInLease = 3;

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

const wanted =
  ({ demand }: WaitingCall): Saying<GovernorEvent> =>
  () => ({ type: 'wanted', demand });

const stopping = (): ParleyError => new ParleyError('EDRAINING', 'this worker is stopping and takes no new calls');

/** One worker's calls of one provider, and its conversation with the governor. */
export class ProviderLine {
  private readonly waiting = new Map<string, WaitingCall>();
  private readonly open = new Map<string, OpenCall>();
  private made = 0;
  private beat: NodeJS.Timeout | null = null;
  private readonly talk: Conversation<GovernorEvent, GovernorAnswer>;

  constructor(private readonly options: LineOptions) {
    const { link, settings, worker, onError, now } = options;
    const { provider } = settings;
    const said = (events: GovernorEvent[], introduces: boolean): GovernorSaid => ({
      worker,
      events,
      ...(introduces && { settings }),
    });
    this.talk = new Conversation({
      exchange: (events, introduces) => link.exchange(settings, said(events, introduces)),
      say: (events, introduces) => link.say(settings, said(events, introduces)),
      countWaiting: () => this.waiting.size,
      sayWaiting: () => [...this.waiting.values()].map(wanted),
      hear: (answer, onTheWayMs) => this.hear(answer, onTheWayMs),
      onError: (error, isAsked) =>
        onError(
          error,
          isAsked
            ? `the limits of ${provider} cannot be asked for; it is tried again`
            : `the governor of ${provider} cannot be told; it is tried again`,
        ),
      now,
    });
  }

  /** @see ProviderGovernor.admit */
  admit({ model, tenant, tier, tokens }: ProviderCall, signal: AbortSignal): Promise<Admission> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.talk.isClosing) return reject(stopping());
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
    this.talk.stopAsking();
    for (const call of [...this.waiting.values()]) this.withdraw(call, stopping());
    await this.talk.close();
    if (this.beat) clearInterval(this.beat);
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
    this.say(wanted(call));
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

  private say(saying: Saying<GovernorEvent>): void {
    this.talk.say(saying);
  }

  private hear({ granted, refused }: GovernorAnswer, onTheWayMs: number): void {
    for (const { id, leftMs } of granted) this.grant(id, leftMs - onTheWayMs);
    for (const { id, message, retryable } of refused) {
      const call = this.waiting.get(id);
      this.waiting.delete(id);
      call?.refused(new ParleyError('EWINDOW', message, { retryable }));
    }
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
