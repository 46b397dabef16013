import type { CallWait } from '../contracts/call-wait.js';
import type { Waiting } from '../contracts/work.js';

/** Waits for the same, as one: all their calls, since the oldest. The longest comes first. */
export const joinedWaits = (waits: readonly CallWait[]): CallWait[] => {
  const joined = new Map<string, CallWait>();
  for (const wait of waits) {
    const key = `${wait.for} ${wait.of}`;
    const before = joined.get(key);
    const since = before && before.since < wait.since ? before.since : wait.since;
    joined.set(key, { ...wait, since, calls: wait.calls + (before?.calls ?? 0) });
  }
  return [...joined.values()].toSorted((a, b) => a.since.localeCompare(b.since));
};

const limitsIn = ({ for: reason, of }: CallWait): string =>
  reason === 'budget' ? `the budget of ${of}` : `the limits of ${of}`;

const whoFor: Readonly<Record<CallWait['for'], (of: string) => string>> = {
  provider_limit: (of) =>
    `the limits of ${of}, as its calls end and its windows pass; an operator who raises them (parley providers ${of}); or a cancel`,
  budget: (of) => `calls that hold the budget of ${of}, as they end; an operator who raises it; or a cancel`,
};

/**
 * Why work is not moving, where calls of it may not be made yet (spec 08 "Why is it not moving?"): the workflow knows only that
 * it waits for whoever makes them. Work that waits for anything else does so still.
 */
export const waitingForCalls = (waiting: Waiting | null, waits: readonly CallWait[]): Waiting | null => {
  const [longest, ...others] = joinedWaits(waits);
  if (!longest || (waiting !== null && waiting.for !== 'lane' && waiting.for !== 'worker')) return waiting;
  const first = `${longest.calls} ${longest.calls === 1 ? 'call waits' : 'calls wait'} for ${limitsIn(longest)}`;
  const more = others.map((wait) => `, ${wait.calls} for ${limitsIn(wait)}`).join('');
  return {
    for: longest.for,
    since: longest.since,
    detail: `${first}${more}${waiting === null ? '' : `; ${waiting.detail}`}`,
    who_can_unblock: whoFor[longest.for](longest.of),
  };
};
