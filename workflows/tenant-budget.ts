import { continueAsNew, log, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { TenantBudget } from '../src/contracts/tenant-budget.js';
import type { BudgetLimits } from '../src/domain/budget.js';
import { tenantBudgetDetails } from '../src/domain/tenant-budget/details.js';
import type {
  BudgetAnswer,
  BudgetEvent,
  BudgetFigures,
  BudgetGrant,
  BudgetRefusal,
  BudgetSaid,
  TenantBudgetStart,
} from '../src/domain/tenant-budget/messages.js';
import { areBudgetLimits, areBudgetSettings, isBudgetSaid } from '../src/domain/tenant-budget/said.js';
import { newTenantBudget, type TenantBudgetState } from '../src/domain/tenant-budget/state.js';
import { stepTenantBudget } from '../src/domain/tenant-budget/step.js';
import { figuresOf, isForgettable, tenantBudgetView } from '../src/domain/tenant-budget/view.js';
import { statusQuery } from './messages.js';
import { idleMs, OwnerRun, runsOnNewest, serve } from './owner.js';
import {
  answerBudgetUpdate,
  exchangeBudgetUpdate,
  knownBudgetQuery,
  saidBudgetUpdate,
} from './tenant-budget-messages.js';
import { refusal } from './work.js';

/** What a worker is to be told. */
interface Mail {
  granted: Omit<BudgetGrant, 'worker'>[];
  refused: Omit<BudgetRefusal, 'worker'>[];
}

class BudgetRun extends OwnerRun<BudgetEvent, Mail> {
  state: TenantBudgetState;

  constructor({ settings, carried }: TenantBudgetStart) {
    super(() => ({ granted: [], refused: [] }));
    this.state = carried ?? newTenantBudget(settings, this.now());
  }

  /** A budget is remembered until its period is over, and one without an end for ever. */
  get isSpent(): boolean {
    return this.now() >= this.idleSince + idleMs && isForgettable(this.state);
  }

  status = (): TenantBudget => tenantBudgetView(this.state);

  exchange = async (said: BudgetSaid): Promise<BudgetAnswer> => {
    this.take(said);
    this.isDue = true; // who asks without a word, and has nothing waiting, is told so
    const { mail, heldMs, waitMs } = await this.answers.hold(String(said?.worker));
    return { runId: workflowInfo().runId, ...mail, figures: figuresOf(this.state), heldMs, waitMs };
  };

  said = (said: BudgetSaid): BudgetFigures => {
    this.take(said);
    return figuresOf(this.state);
  };

  answer = (limits: Partial<BudgetLimits> | 'stop'): TenantBudget => {
    if (limits === 'stop' || areBudgetLimits(limits)) this.events.push({ type: 'answered', limits });
    this.step();
    return this.status();
  };

  step(): void {
    const now = this.now();
    const { state, granted, refused, told, nextAt } = stepTenantBudget(this.state, this.takeEvents(now), now);
    this.state = state;
    for (const { worker, ...grant } of granted) this.answers.mailFor(worker).granted.push(grant);
    for (const { worker, ...refusal } of refused) this.answers.mailFor(worker).refused.push(refusal);
    for (const { step, message } of told) log.warn(`the budget of a tenant: ${step}`, { message });
    const waiting = new Set(state.queue.map(({ worker }) => worker));
    this.answers.release(waiting, (worker) => state.heard[worker] !== undefined);
    const idleAt = isForgettable(state) ? this.idleSince + idleMs : Infinity;
    const wakeAt = Math.min(nextAt ?? Infinity, Math.max(idleAt, now + 1));
    if (wakeAt < Infinity) this.alarm.setAt(wakeAt);
    setCurrentDetails(tenantBudgetDetails(this.status()));
  }

  private take(said: BudgetSaid): void {
    if (!isBudgetSaid(said)) return; // sent by hand: workers say nothing else
    const { settings, events } = said;
    if (settings && JSON.stringify(settings) !== JSON.stringify(this.state.settings))
      this.events.push({ type: 'settings', settings });
    this.events.push(...events);
  }
}

/**
 * Keeps what a tenant may use over all its work (spec 08 "Budget ledger"): workers hold the price of a call before it and say after
 * it what it used. No kind of work: it outlives all that it counts.
 */
export async function tenantBudget(start: TenantBudgetStart): Promise<void> {
  if (!areBudgetSettings(start?.settings))
    throw refusal(
      'invalid_request',
      'a budget takes the limits of its tenant; a worker that calls for the tenant starts it',
    );
  const run = new BudgetRun(start);
  setHandler(statusQuery, run.status, {
    description: 'The limits of the tenant, what is spent of them, and who waits',
  });
  setHandler(knownBudgetQuery, () => run.state, { description: 'All that it knows, as the next one is begun with it' });
  setHandler(saidBudgetUpdate, run.said, { description: 'What a worker wants or has used' });
  setHandler(exchangeBudgetUpdate, run.exchange, {
    description: 'The same, answered once a call may go out or may not',
  });
  setHandler(answerBudgetUpdate, run.answer, { description: "A person's other limits, or that it is to stop" });
  await serve(run, () => continueAsNew<typeof tenantBudget>({ settings: run.state.settings, carried: run.state }));
}
runsOnNewest(tenantBudget);
