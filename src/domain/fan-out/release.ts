import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import { endCall, isTimeOver, timeEndOf, timeRefusal } from '../work-account.js';
import { barrierPasses, countsOf } from './barrier.js';
import { callerOf } from './dispatch.js';
import { changeTask, type FanOutDraft } from './draft.js';
import type { FanOutEventName } from './machine.js';
import type { FanOutState } from './state.js';
import { barrierStatus } from './view.js';

/** Whether the barrier gives up with the budget's time, and not with its own. */
const endsWithBudget = ({ ledger, deadlineAt, steppedAt }: FanOutState): boolean =>
  deadlineAt !== null && deadlineAt === timeEndOf(ledger) && isTimeOver(ledger, steppedAt);

export const codeOfTimeout = (fanOut: FanOutState): 'EBUDGET' | 'ETIMEOUT' =>
  endsWithBudget(fanOut) ? 'EBUDGET' : 'ETIMEOUT';

/** Everything that has not ended is given up: it is missing from here on. */
export const releaseBarrier = (draft: FanOutDraft, on: FanOutEventName): void => {
  const { fanOut, events, now } = draft;
  const by = on === 'TIMEOUT' ? 'timeout' : on === 'CANCEL' ? 'cancel' : 'settled';
  fanOut.released = { at: now, by };
  const passes = barrierPasses(countsOf(fanOut.tasks), fanOut.setup.barrier);
  events.push({
    event: 'barrier',
    data: { ...barrierStatus(fanOut), at: iso(now), passed: passes && by !== 'cancel' },
  });
  const why =
    by === 'cancel'
      ? 'the fan-out was cancelled'
      : endsWithBudget(fanOut)
        ? `it was given up, as ${timeRefusal(fanOut.ledger, fanOut.steppedAt)}`
        : `it had not ended when the barrier was released, after ${fanOut.setup.barrier.timeout_ms} ms`;
  const code = by === 'cancel' ? 'EPREEMPT' : codeOfTimeout(fanOut);
  fanOut.tasks.forEach(({ state, call }, index) => {
    if (state !== 'QUEUED' && state !== 'RUNNING') return;
    const task = fanOut.setup.tasks[index];
    // It holds its part until it has said what it used; where that was freed at once it still is.
    const isHeld = task !== undefined && callerOf(fanOut, task)?.most !== undefined;
    if (!isHeld) fanOut.ledger = endCall(fanOut.ledger, call, noAmount);
    const reason = { code, message: why };
    changeTask(draft, index, { state: 'CANCELLED', endedAt: now, reason, call: isHeld ? call : null });
  });
};
