import { ParleyError } from '../../src/domain/errors.js';
import { noAmount } from '../../src/domain/budget.js';
import type { Amount } from '../../src/domain/session/setup.js';
import type { BudgetAnswer, BudgetEvent } from '../../src/domain/tenant-budget/messages.js';
import { leaseOf, type TenantBudgetSettings } from '../../src/domain/tenant-budget/settings.js';
import { CallLine, type LineOptions } from '../owner/call-line.js';
import type { BudgetLink } from './link.js';
import type { BudgetMetrics } from './metrics.js';
import { type BudgetedCall, PersonAskedError, type Reservation } from './port.js';

export interface BudgetLineOptions extends LineOptions<TenantBudgetSettings> {
  link: BudgetLink;
  metrics: BudgetMetrics;
}

/** A person is asked before the call may be made. */
class Asked extends ParleyError {
  constructor(message: string) {
    super('EBUDGET', message, { retryable: true });
  }
}

/** One worker's calls of one tenant, and its conversation with the tenant's budget. */
export class BudgetLine {
  private readonly line: CallLine<number, BudgetEvent, TenantBudgetSettings, BudgetAnswer, Reservation>;

  constructor(private readonly options: BudgetLineOptions) {
    const { link, settings, worker, metrics, onError, now } = options;
    const { tenant } = settings;
    this.line = new CallLine({
      ...{ settings, worker, now },
      exchange: (said) => link.exchange(settings, said),
      say: async (said) => {
        metrics.stands(tenant, await link.say(settings, said));
        return true;
      },
      keyOf: (number) => number,
      withdrawn: (number) => ({ type: 'withdrawn', worker, number }),
      unused: (number) => this.ended(number, null, noAmount),
      alive: (waiting, open) => [() => ({ type: 'alive', worker, numbers: [...waiting, ...open.keys()] })],
      leaseMs: leaseOf(settings),
      hear: (answer) => this.hear(answer),
      onError: (error, isAsked) => {
        const what = isAsked ? 'cannot be asked' : 'cannot be told what was used';
        onError(error, `the budget of tenant ${tenant} ${what}; it is tried again`);
      },
    });
  }

  /** @see TenantBudgets.reserve */
  async reserve(call: BudgetedCall, signal: AbortSignal, comesAgain = false): Promise<Reservation> {
    const { worker } = this.options;
    const { amount, isCapped, cheaper } = call;
    const wantedAs = (number: number): BudgetEvent => ({
      type: 'wanted',
      demand: { worker, number, amount, isCapped, cheaper, ...(comesAgain && { comesAgain: true }) },
    });
    try {
      return await this.line.ask(wantedAs, signal);
    } catch (error) {
      throw error instanceof Asked ? new PersonAskedError(error.message, call) : error;
    }
  }

  /** What is not heard is spent as it was held. */
  close(): Promise<void> {
    return this.line.close();
  }

  private ended(number: number, since: number | null, used: Amount): BudgetEvent {
    return { type: 'ended', worker: this.options.worker, number, since, used };
  }

  private hear({ granted, refused, figures, waitMs }: BudgetAnswer): void {
    this.options.metrics.stands(this.options.settings.tenant, figures);
    // It may not know of what waits any more, where this worker was silent for a whole lease, as a machine that slept.
    if (granted.length + refused.length + waitMs === 0) this.line.sayAgain();
    for (const { number, since, isCheaper } of granted) {
      const end = (used: Amount): void => void this.line.end(number, () => this.ended(number, since, used));
      this.line.grant(number, () => ({ isCheaper, end }), this.ended(number, since, noAmount));
    }
    for (const { number, message, isAsked } of refused) {
      // Lost on the way for a whole lease, it has been paid for by its number.
      if (message === null) this.line.askAnew(number);
      else if (isAsked) this.line.refuse(number, new Asked(message));
      // An operator may give the tenant more, and what asks again then goes on.
      else this.line.refuse(number, new ParleyError('EBUDGET', message, { retryable: true }));
    }
  }
}
