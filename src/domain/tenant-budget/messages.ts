import type { BudgetLimits } from '../budget.js';
import type { Amount } from '../session/setup.js';
import type { TenantBudgetSettings } from './settings.js';
import type { BudgetDemand, TenantBudgetState } from './state.js';

export const tenantBudgetWorkflowType = 'tenantBudget';

/** One for each tenant and task queue. No piece of work can have such an id: theirs have no ":". */
export const tenantBudgetId = (taskQueue: string, tenant: string): string => `budget:${taskQueue}:${tenant}`;

/** What workers say, and persons. All of it may be said twice. */
export type BudgetEvent =
  /** A call wants to be made. */
  | { type: 'wanted'; demand: BudgetDemand }
  /** Nobody waits for the call any more; one that is admitted has to be ended instead. */
  | { type: 'withdrawn'; worker: string; number: number }
  /**
   * The call is over, and has used so much; `since`: the beginning of the period in which it was admitted, null: it is not known
   * to be.
   */
  | { type: 'ended'; worker: string; number: number; since: number | null; used: Amount }
  /** These of its calls, waiting or under way, stand for a lease more. */
  | { type: 'alive'; worker: string; numbers: number[] }
  | { type: 'settings'; settings: TenantBudgetSettings }
  /** A person's other limits for the running period, those that are given; or that nothing more is to be spent in it. */
  | { type: 'answered'; limits: Partial<BudgetLimits> | 'stop' };

export interface BudgetSaid {
  worker: string;
  events: BudgetEvent[];
  /** What its operator wants kept to; told when a worker begins, and whenever it cannot know what was heard. */
  settings?: TenantBudgetSettings;
}

/** A call that may be made. */
export interface BudgetGrant {
  worker: string;
  number: number;
  since: number;
  isCheaper: boolean;
}

export interface BudgetRefusal {
  worker: string;
  number: number;
  /** null: it was lost and has been paid for, so that it has to be asked for by another number. */
  message: string | null;
  /** A person is asked for more, and the call is to come again once it may; left out: nobody is. */
  isAsked?: true;
}

/** How the budget stands, for gauges. */
export interface BudgetFigures {
  spent: Amount;
  limits: BudgetLimits;
}

export interface BudgetAnswer {
  runId: string;
  granted: Omit<BudgetGrant, 'worker'>[];
  refused: Omit<BudgetRefusal, 'worker'>[];
  figures: BudgetFigures;
  heldMs: number;
  waitMs: number;
}

export interface TenantBudgetStart {
  settings: TenantBudgetSettings;
  carried?: TenantBudgetState;
}
