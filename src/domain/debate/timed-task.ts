import type { Task } from '../../contracts/plan.js';
import { timeLeftOf } from '../work-account.js';
import type { DebateState } from './state.js';

/** A command has at most what is left of the time of the budget. */
export const timedTask = (
  { ledger, steppedAt }: Pick<DebateState, 'ledger' | 'steppedAt'>,
  task: Task,
): { task: Task; leftMs?: number } => {
  const leftMs = timeLeftOf(ledger, steppedAt);
  if (leftMs === null) return { task };
  const { limits } = task;
  return { task: { ...task, limits: { ...limits, timeout_ms: Math.min(limits.timeout_ms, leftMs) } }, leftMs };
};
