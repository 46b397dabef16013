import {
  condition,
  continueAsNew,
  log,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
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
import { Alarm } from './alarm.js';
import { HeldAnswers } from './held-answers.js';
import { statusQuery } from './messages.js';
import { answerBudgetUpdate, exchangeBudgetUpdate, saidBudgetUpdate } from './tenant-budget-messages.js';
import { refusal } from './work.js';

/** For so long nothing was said, and nothing of the period is known, when it ends itself. */
const idleMs = 3_600_000;
/** Events after which it continues as new: whoever takes over from a dead worker replays them first. */
const longestHistory = 1_500;

/** What a worker is to be told. */
interface Mail {
  granted: Omit<BudgetGrant, 'worker'>[];
  refused: Omit<BudgetRefusal, 'worker'>[];
}

/** The state, and what one run does with it. Nothing but `step` changes it, once for all that came in together. */
class BudgetRun {
  state: TenantBudgetState;
  private events: BudgetEvent[] = [];
  private idleSince: number;
  private latest = 0;
  private isDue = true;
  private readonly answers = new HeldAnswers<Mail>(
    () => this.now(),
    () => ({ granted: [], refused: [] }),
  );
  private readonly alarm = new Alarm(
    () => this.now(),
    () => (this.isDue = true),
  );

  constructor({ settings, carried }: TenantBudgetStart) {
    this.state = carried ?? newTenantBudget(settings, this.now());
    this.idleSince = this.now();
  }

  get isStirred(): boolean {
    return this.isDue || this.events.length > 0;
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
    const events = this.events;
    this.events = [];
    this.isDue = false;
    const { state, granted, refused, told, nextAt } = stepTenantBudget(this.state, events, now);
    this.state = state;
    for (const { worker, ...grant } of granted) this.answers.mailFor(worker).granted.push(grant);
    for (const { worker, ...refusal } of refused) this.answers.mailFor(worker).refused.push(refusal);
    for (const { step, message } of told) log.warn(`the budget of a tenant: ${step}`, { message });
    if (events.length > 0) this.idleSince = now;
    const waiting = new Set(state.queue.map(({ worker }) => worker));
    this.answers.release(waiting, (worker) => state.heard[worker] !== undefined);
    const idleAt = isForgettable(state) ? this.idleSince + idleMs : Infinity;
    const wakeAt = Math.min(nextAt ?? Infinity, Math.max(idleAt, now + 1));
    if (wakeAt < Infinity) this.alarm.setAt(wakeAt);
    setCurrentDetails(tenantBudgetDetails(this.status()));
  }

  close = (): Promise<void> => this.answers.close();
  reopen = (): void => this.answers.reopen();

  private take(said: BudgetSaid): void {
    if (!isBudgetSaid(said)) return; // sent by hand: workers say nothing else
    const { settings, events } = said;
    if (settings && JSON.stringify(settings) !== JSON.stringify(this.state.settings))
      this.events.push({ type: 'settings', settings });
    this.events.push(...events);
  }

  private now(): number {
    return (this.latest = Math.max(this.latest, Date.now()));
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
  setHandler(saidBudgetUpdate, run.said, { description: 'What a worker wants or has used' });
  setHandler(exchangeBudgetUpdate, run.exchange, {
    description: 'The same, answered once a call may go out or may not',
  });
  setHandler(answerBudgetUpdate, run.answer, { description: "A person's other limits, or that it is to stop" });
  for (;;) {
    await condition(() => run.isStirred);
    run.step();
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    const isLong = continueAsNewSuggested || historyLength >= longestHistory;
    if (!isLong && !run.isSpent) continue;
    await run.close();
    if (run.isStirred) run.step();
    if (isLong) await continueAsNew<typeof tenantBudget>({ settings: run.state.settings, carried: run.state });
    if (run.isSpent) return;
    run.reopen();
  }
}

// Whichever version runs now: work of every version waits for it. A worker without a version may not speak of one.
setWorkflowOptions(
  () => (workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'AUTO_UPGRADE' } : {}),
  tenantBudget,
);
