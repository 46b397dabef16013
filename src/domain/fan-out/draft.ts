import type { FanOutDurableEvent } from '../../contracts/fan-out-events.js';
import { iso } from '../instant.js';
import type { FanOutEffect } from './effects.js';
import type { FanOutState, TaskRecord } from './state.js';

/** What one step of a fan-out gives: the next state, what is to be done, and what happened. */
export interface FanOutStep {
  fanOut: FanOutState;
  effects: FanOutEffect[];
  events: FanOutDurableEvent[];
}

/** A fan-out in the middle of a step: functions that take a draft assign members of its `fanOut`, the step's own copy. */
export interface FanOutDraft extends Readonly<FanOutStep> {
  /** Epoch milliseconds. */
  readonly now: number;
}

export const openDraft = (fanOut: FanOutState, now: number): FanOutDraft => ({
  fanOut: { ...fanOut, steppedAt: Math.max(fanOut.steppedAt, now) },
  now,
  effects: [],
  events: [],
});

/** Changes one task, and tells it where its state is another. */
export const changeTask = ({ fanOut, events, now }: FanOutDraft, index: number, change: Partial<TaskRecord>): void => {
  const before = fanOut.tasks[index];
  const task = fanOut.setup.tasks[index];
  if (!before || !task) return;
  const after = { ...before, ...change };
  fanOut.tasks = fanOut.tasks.with(index, after);
  if (after.state === before.state) return;
  const { state, late, reason } = after;
  const { taskId, agentId } = task;
  events.push({ event: 'task', data: { at: iso(now), task_id: taskId, agent_id: agentId, state, late, reason } });
};
