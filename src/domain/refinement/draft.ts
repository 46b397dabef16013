import type { RefinementDurableEvent } from '../../contracts/refinement-events.js';
import type { RefinementEffect } from './effects.js';
import type { RefinementState } from './state.js';

/** What one step of a refinement gives: the next state, what is to be done, and what happened. */
export interface RefinementStep {
  refinement: RefinementState;
  effects: RefinementEffect[];
  events: RefinementDurableEvent[];
}

/** A refinement in the middle of a step: its members are assigned, and what a member holds is never reached into. */
export interface RefinementDraft extends Readonly<RefinementStep> {
  /** Epoch milliseconds. */
  readonly now: number;
}

export const openDraft = (refinement: RefinementState, now: number): RefinementDraft => ({
  refinement: { ...refinement, steppedAt: now },
  now,
  effects: [],
  events: [],
});

export const say = ({ events }: RefinementDraft, event: RefinementDurableEvent): void => {
  events.push(event);
};
