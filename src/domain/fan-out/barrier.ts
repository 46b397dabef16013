import { atLeast } from '../numbers.js';
import type { WorkerTaskState } from '../../contracts/fan-out-status.js';

export interface BarrierCounts {
  total: number;
  /** Queued and running. */
  waiting: number;
  running: number;
  completed: number;
  /** Failed, rejected, evicted and cancelled. */
  failed: number;
}

export const countsOf = (tasks: readonly { state: WorkerTaskState; late: boolean }[]): BarrierCounts => {
  const counts = { total: tasks.length, waiting: 0, running: 0, completed: 0, failed: 0 };
  for (const { state, late } of tasks) {
    if (state === 'RUNNING') counts.running += 1;
    if (state === 'QUEUED' || state === 'RUNNING') counts.waiting += 1;
    else if (state === 'COMPLETED' && !late) counts.completed += 1;
    else counts.failed += 1;
  }
  return counts;
};

/** Completed of all tasks, 0–1; of no tasks 1: none is missing (details 4.3). */
export const completionRatio = ({ completed, total }: Pick<BarrierCounts, 'completed' | 'total'>): number =>
  total === 0 ? 1 : completed / total;

/**
 * Whether the work goes on with what there is (spec 03 "Barrier"): with everything always; else in partial mode with a share
 * of at least `min_completion_ratio`, of all tasks, reached within 1e-9.
 */
export const barrierPasses = (
  counts: Pick<BarrierCounts, 'completed' | 'total'>,
  policy: { partial_mode: boolean; min_completion_ratio: number },
): boolean =>
  counts.completed === counts.total ||
  (policy.partial_mode && atLeast(completionRatio(counts), policy.min_completion_ratio));

/** The figure's states (details 4.3): none done, some done, none waited for. */
export const barrierStateOf = ({ total, waiting }: BarrierCounts): 'WAITING' | 'PARTIAL' | 'COMPLETE' =>
  waiting === 0 ? 'COMPLETE' : waiting === total ? 'WAITING' : 'PARTIAL';
