import { ParleyError } from '../../src/domain/errors.js';
import type { Amount } from '../../src/domain/session/setup.js';
import type { BudgetAnswer, BudgetEvent, BudgetSaid } from '../../src/domain/tenant-budget/messages.js';
import type { TenantBudgetSettings } from '../../src/domain/tenant-budget/settings.js';
import { type BudgetDemand, budgetLeaseMs } from '../../src/domain/tenant-budget/state.js';
import { Conversation, type Saying } from '../owner/conversation.js';
import type { BudgetLink } from './link.js';
import type { BudgetMetrics } from './metrics.js';
import type { BudgetedCall, Reservation } from './port.js';

/** A worker says this often in a lease which of its calls are alive. */
const beatsInLease = 3;

export interface BudgetLineOptions {
  settings: TenantBudgetSettings;
  link: BudgetLink;
  /** Which worker it is, unlike any other that there is or was. */
  worker: string;
  metrics: BudgetMetrics;
  onError: (error: unknown, what: string) => void;
  /** Milliseconds of a clock that only goes forward. */
  now: () => number;
}

interface WaitingCall {
  demand: BudgetDemand;
  granted: (reservation: Reservation) => void;
  refused: (error: unknown) => void;
}

const stopping = (): ParleyError => new ParleyError('EDRAINING', 'this worker is stopping and takes no new calls');

const wanted =
  ({ demand }: WaitingCall): Saying<BudgetEvent> =>
  () => ({ type: 'wanted', demand });

/** One worker's calls of one tenant, and its conversation with the tenant's budget. */
export class BudgetLine {
  private readonly waiting = new Map<number, WaitingCall>();
  private readonly open = new Set<number>();
  private made = 0;
  private beat: NodeJS.Timeout | null = null;
  private readonly talk: Conversation<BudgetEvent, BudgetAnswer>;

  constructor(private readonly options: BudgetLineOptions) {
    const { link, settings, worker, metrics, onError, now } = options;
    const { tenant } = settings;
    const said = (events: BudgetEvent[], introduces: boolean): BudgetSaid => ({
      worker,
      events,
      ...(introduces && { settings }),
    });
    this.talk = new Conversation({
      exchange: (events, introduces) => link.exchange(settings, said(events, introduces)),
      say: async (events, introduces) => {
        metrics.stands(tenant, await link.say(settings, said(events, introduces)));
        return true;
      },
      countWaiting: () => this.waiting.size,
      sayWaiting: () => [...this.waiting.values()].map(wanted),
      hear: (answer) => this.hear(answer),
      onError: (error, isAsked) => {
        const what = isAsked ? 'cannot be asked' : 'cannot be told what was used';
        onError(error, `the budget of tenant ${tenant} ${what}; it is tried again`);
      },
      now,
    });
  }

  /** @see TenantBudgets.reserve */
  reserve({ amount, isCapped, cheaper }: BudgetedCall, signal: AbortSignal): Promise<Reservation> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.talk.isClosing) return reject(stopping());
      const over = (): void => signal.removeEventListener('abort', onAbort);
      const { worker } = this.options;
      const call: WaitingCall = {
        demand: { worker, number: 0, amount, isCapped, cheaper },
        granted: (reservation) => (over(), resolve(reservation)),
        refused: (error) => (over(), reject(error)),
      };
      const onAbort = (): void => this.withdraw(call, signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      this.wait(call);
    });
  }

  /** Says what is still to be said, within two seconds: what is not heard is spent as it was held. */
  async close(): Promise<void> {
    this.talk.stopAsking();
    for (const call of [...this.waiting.values()]) this.withdraw(call, stopping());
    await this.talk.close();
    if (this.beat) clearInterval(this.beat);
  }

  private wait(call: WaitingCall): void {
    this.made += 1;
    call.demand = { ...call.demand, number: this.made };
    this.waiting.set(this.made, call);
    this.observe();
    this.talk.say(wanted(call));
  }

  private observe(): void {
    const isBusy = this.waiting.size + this.open.size > 0;
    if (isBusy === (this.beat !== null)) return;
    if (this.beat) clearInterval(this.beat);
    this.beat = isBusy ? setInterval(() => this.sayAlive(), budgetLeaseMs / beatsInLease) : null;
  }

  private sayAlive(): void {
    const numbers = [...this.waiting.keys(), ...this.open];
    this.talk.say(() => ({ type: 'alive', worker: this.options.worker, numbers }));
  }

  private withdraw({ demand: { number }, refused }: WaitingCall, reason: unknown): void {
    if (!this.waiting.delete(number)) return;
    this.talk.say(() => ({ type: 'withdrawn', worker: this.options.worker, number }));
    // It may have been granted in the same moment.
    this.sayEnded(number, null, { tokens: 0, usdMicros: 0 });
    this.observe();
    refused(reason);
  }

  private sayEnded(number: number, since: number | null, used: Amount): void {
    this.talk.say(() => ({ type: 'ended', worker: this.options.worker, number, since, used }));
  }

  private hear({ granted, refused, figures, waitMs }: BudgetAnswer): void {
    this.options.metrics.stands(this.options.settings.tenant, figures);
    // It may not know of what waits any more, where this worker was silent for a whole lease, as a machine that slept.
    if (granted.length + refused.length + waitMs === 0)
      for (const call of this.waiting.values()) this.talk.say(wanted(call));
    for (const { number, since, isCheaper } of granted) this.grant(number, since, isCheaper);
    for (const { number, message } of refused) {
      const call = this.waiting.get(number);
      if (!call) continue;
      this.waiting.delete(number);
      // Lost on the way for a whole lease, it has been paid for by its number: it is asked for by another.
      if (message === null) this.wait(call);
      else call.refused(new ParleyError('EBUDGET', message, { retryable: false }));
    }
    this.observe();
  }

  private grant(number: number, since: number, isCheaper: boolean): void {
    const call = this.waiting.get(number);
    if (!call) {
      // Nobody waits for it any more; one that is under way was merely told twice.
      if (!this.open.has(number)) this.sayEnded(number, since, { tokens: 0, usdMicros: 0 });
      return;
    }
    this.waiting.delete(number);
    this.open.add(number);
    call.granted({
      isCheaper,
      end: (used) => {
        if (!this.open.delete(number)) return;
        this.sayEnded(number, since, used);
        this.observe();
      },
    });
  }
}
