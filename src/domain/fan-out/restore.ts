import { noAmount } from '../budget.js';
import { endCall } from '../work-account.js';
import type { FanOutEffect } from './effects.js';
import { stageState } from './machine.js';
import type { FanOutState } from './state.js';

const isAwaited = ({ state, tasks }: FanOutState, effect: FanOutEffect): boolean => {
  switch (effect.type) {
    case 'run_worker':
      return tasks[effect.index]?.state === 'RUNNING';
    case 'stop':
      return true;
    default:
      return state === stageState[effect.type];
  }
};

/**
 * What a restore to here begins with: of all that is under way only what the fan-out still waits for. A worker that the barrier has
 * given up is not run again, as its result would be ignored (details 4.3); it tells nothing more, so that what it holds of the
 * budget is free. `underWay` is in the order in which it is to be done.
 */
export const restorePointOf = (
  fanOut: FanOutState,
  underWay: readonly FanOutEffect[],
): { work: FanOutState; resume: FanOutEffect[] } => {
  const resume = underWay.filter((effect) => isAwaited(fanOut, effect));
  const work = { ...fanOut, tasks: [...fanOut.tasks] };
  for (const effect of underWay) {
    const task = effect.type === 'run_worker' ? work.tasks[effect.index] : undefined;
    if (effect.type !== 'run_worker' || !task || task.call === null || isAwaited(fanOut, effect)) continue;
    work.ledger = endCall(work.ledger, task.call, noAmount);
    work.tasks[effect.index] = { ...task, call: null };
  }
  return { work, resume };
};
