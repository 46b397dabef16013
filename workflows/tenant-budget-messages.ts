import { defineQuery, defineUpdate } from '@temporalio/workflow';
import type { TenantBudget } from '../src/contracts/tenant-budget.js';
import type { BudgetLimits } from '../src/domain/budget.js';
import type { BudgetAnswer, BudgetFigures, BudgetSaid } from '../src/domain/tenant-budget/messages.js';
import type { TenantBudgetState } from '../src/domain/tenant-budget/state.js';

/** An Update: it is held back until a call of the worker may go out or is refused, and tells it so without anybody asking again. */
export const exchangeBudgetUpdate = defineUpdate<BudgetAnswer, [BudgetSaid]>('exchange');
/** What needs no answer, or is answered by an exchange that is open; signals would keep a run from continuing as new. */
export const saidBudgetUpdate = defineUpdate<BudgetFigures, [BudgetSaid]>('said');
/** A person's word, answered once it is in force. Messages of nobody's change nothing. */
export const answerBudgetUpdate = defineUpdate<TenantBudget, [Partial<BudgetLimits> | 'stop']>('answer');
/** All that it knows: who begins it anew, after somebody has ended it, hands it on. */
export const knownBudgetQuery = defineQuery<TenantBudgetState>('known');
