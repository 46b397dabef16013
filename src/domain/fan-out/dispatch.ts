import { approximateTokens, noAmount } from '../budget.js';
import { holdBounded } from '../call-most.js';
import { iso } from '../instant.js';
import { type Held, holdCall, leftOf } from '../work-account.js';
import { admit, startOrder } from './admission.js';
import { changeTask, type FanOutDraft } from './draft.js';
import { taskPrompt } from './prompts.js';
import type { PricedAdapter, WorkerAgent, WorkerTask } from './setup.js';
import type { FanOutState } from './state.js';

/** Most tokens that an answer may have by what is left of the budget; null: no limit. */
export const tokensLeft = (fanOut: FanOutState, asked: string): number | null => {
  const { tokens } = leftOf(fanOut.ledger);
  return tokens === null ? null : Math.max(1, tokens - approximateTokens(asked));
};

export const agentOf = (fanOut: FanOutState, task: WorkerTask): WorkerAgent | undefined =>
  fanOut.setup.agents.find(({ agentId }) => agentId === task.agentId);
export const callerOf = (fanOut: FanOutState, task: WorkerTask): PricedAdapter | null =>
  task.caller ?? agentOf(fanOut, task)?.caller ?? null;

/** Takes the tasks in, in the order of the request, but for those that a fork has answers of already: what has no place is refused or evicted (details 4.2). */
export const admitTasks = (draft: FanOutDraft): void => {
  const { fanOut, now } = draft;
  const { maxConcurrent, overflow, queueLimit } = fanOut.setup;
  const places = fanOut.tasks.flatMap(({ state }, index) => (state === 'QUEUED' ? [index] : []));
  sayKept(draft, fanOut.completed);
  const tasks = places.flatMap((index) => fanOut.setup.tasks[index] ?? []);
  const placeOf = (index: number): number => places[index] ?? index;
  const admitted = admit(tasks, { maxConcurrent, overflow, queueLimit });
  fanOut.order = startOrder(tasks, admitted).map(placeOf);
  admitted.forEach((each, index) => {
    if (!('message' in each)) return;
    const state = each.place === 'rejected' ? 'REJECTED' : 'EVICTED';
    changeTask(draft, placeOf(index), { state, endedAt: now, reason: { code: 'EWINDOW', message: each.message } });
  });
};

/** Tasks that are named where a fork tells which it keeps. */
const mostNamed = 20;

const sayKept = ({ fanOut, events, now }: FanOutDraft, kept: readonly number[]): void => {
  if (kept.length === 0) return;
  const named = kept.slice(0, mostNamed).map((index) => fanOut.setup.tasks[index]?.taskId ?? '');
  const more = kept.length > mostNamed ? ` and ${kept.length - mostNamed} more` : '';
  const message = `kept as they completed before the fork, and not run again: ${named.join(', ')}${more}`;
  events.push({ event: 'log', data: { at: iso(now), message } });
};

/** All that a task's agent is asked with; of work that began before inputs were counted, what it was counted by. */
const askedOf = (fanOut: FanOutState, task: WorkerTask, caller: PricedAdapter | null): string =>
  (caller?.most ? taskPrompt(task) : task.prompt) + (agentOf(fanOut, task)?.instructions ?? '');

const hold = ({ fanOut, now }: FanOutDraft, caller: PricedAdapter | null, asked: string): Held =>
  caller ? holdBounded(fanOut.ledger, caller, asked.length, now) : holdCall(fanOut.ledger, noAmount, now);

/**
 * Starts tasks while there is room. A task that the budget does not hold waits while others may give some of theirs back, and
 * fails by EBUDGET once none can.
 */
export const dispatch = (draft: FanOutDraft): void => {
  const { fanOut, effects, now } = draft;
  if (fanOut.state !== 'RUNNING' || fanOut.held) return;
  let running = fanOut.tasks.filter(({ state }) => state === 'RUNNING').length;
  while (running < fanOut.setup.maxConcurrent) {
    const index = fanOut.order[fanOut.turn];
    const task = index === undefined ? undefined : fanOut.setup.tasks[index];
    if (index === undefined || !task) return;
    const caller = callerOf(fanOut, task);
    const asked = askedOf(fanOut, task, caller);
    const held = hold(draft, caller, asked);
    if ('faults' in held && running > 0) return;
    fanOut.turn += 1;
    if ('faults' in held) {
      const message = held.faults.join('; ');
      changeTask(draft, index, { state: 'FAILED', endedAt: now, reason: { code: 'EBUDGET', message } });
      continue;
    }
    const calls = Object.hasOwn(fanOut.calls, task.agentId) ? (fanOut.calls[task.agentId] ?? 0) : 0;
    effects.push({
      type: 'run_worker',
      index,
      callsBefore: task.caller ? 0 : calls,
      timeoutMs: Math.max(1, (fanOut.deadlineAt ?? now) - now),
      maxTokens: tokensLeft(fanOut, asked),
    });
    if (!task.caller) fanOut.calls = { ...fanOut.calls, [task.agentId]: calls + 1 };
    fanOut.ledger = held.ledger;
    changeTask(draft, index, { state: 'RUNNING', startedAt: now, attempt: 1, call: held.call });
    running += 1;
  }
};
