import type { CoordinatorDurableEvent } from '../../contracts/coordinator-events.js';
import type { CoordinatorEffect } from './effects.js';
import type { CoordinatorState, TrackedRun } from './state.js';

/** What one step of a coordinator gives: the next state, what is to be done, and what happened. */
export interface CoordinatorStep {
  coordinator: CoordinatorState;
  effects: CoordinatorEffect[];
  events: CoordinatorDurableEvent[];
}

/** A coordinator in the middle of a step: its members are assigned, and what a member holds is never reached into. */
export interface CoordinatorDraft extends Readonly<CoordinatorStep> {
  /** Epoch milliseconds. */
  readonly now: number;
}

export const openDraft = (coordinator: CoordinatorState, now: number): CoordinatorDraft => ({
  coordinator: { ...coordinator },
  now,
  effects: [],
  events: [],
});

export const say = ({ events }: CoordinatorDraft, event: CoordinatorDurableEvent): void => {
  events.push(event);
};

export const replaceRun = ({ coordinator }: CoordinatorDraft, run: TrackedRun): void => {
  coordinator.runs = coordinator.runs.map((other) => (other.runId === run.runId ? run : other));
};
