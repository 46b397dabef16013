import { type TenantWait, tenantWaitOf } from '../tenant-waits.js';
import { heldFor, withClock } from '../work-account.js';
import type { FanOutDraft } from './draft.js';
import type { FanOutState } from './state.js';

/** What is under way, by its name. */
const underWay = ({ state, tasks, asking }: FanOutState): string[] => {
  switch (state) {
    case 'RUNNING':
      return tasks.flatMap((task, index) => (task.state === 'RUNNING' ? [`task ${index}`] : []));
    case 'FANNING_IN':
      return asking ? [] : ['fan_in'];
    case 'SCORING':
      return asking ? [] : ['score'];
    default:
      return [];
  }
};

/** The waits for persons who answer for budgets of tenants, where all that is under way waits so; else none. */
export const awaitedByAll = (fanOut: FanOutState): TenantWait[] => {
  if (fanOut.tenantWaits === undefined) return [];
  const names = underWay(fanOut);
  const waits = names.flatMap((name) => tenantWaitOf(fanOut, name) ?? []);
  return waits.length === names.length ? waits : [];
};

/**
 * No time passes while all that is under way waits for a person, neither of the budget nor of the barrier (spec 08 "never counts against
 * a time budget").
 */
export const keepTime = ({ fanOut, now }: FanOutDraft): void => {
  const { ledger, deadlineAt } = fanOut;
  fanOut.ledger = withClock(ledger, awaitedByAll(fanOut).length > 0, now);
  if (deadlineAt !== null) fanOut.deadlineAt = deadlineAt + heldFor(ledger, fanOut.ledger);
};
