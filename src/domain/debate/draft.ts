import type { DebateDurableEvent } from '../../contracts/debate-events.js';
import { iso } from '../instant.js';
import type { DebateEffect } from './effects.js';
import type { DebateState, Pending } from './state.js';

/** What one step of a debate gives: the next state, what is to be done, and what happened. */
export interface DebateStep {
  debate: DebateState;
  effects: DebateEffect[];
  events: DebateDurableEvent[];
}

/**
 * A debate in the middle of a step. Functions that take a draft change it: they assign members of `debate`, which is the
 * step's own copy, and never reach into what a member holds. Functions that take a debate only look at it.
 */
export interface DebateDraft extends Readonly<DebateStep> {
  /** Epoch milliseconds. */
  readonly now: number;
}

export const openDraft = (debate: DebateState, now: number): DebateDraft => ({
  debate: { ...debate, steppedAt: Math.max(debate.steppedAt, now) },
  now,
  effects: [],
  events: [],
});

type WithoutId<E> = E extends { id: number } ? Omit<E, 'id'> : never;

/** Wants something done; its answer carries the id that it is given here. */
export const want = ({ debate, effects }: DebateDraft, effect: WithoutId<DebateEffect>): void => {
  const numbered = { ...effect, id: debate.effects + 1 } as Pending;
  debate.effects = numbered.id;
  debate.pending = numbered;
  effects.push(numbered);
};

/** Asks for the early end of what is under way; whether its answer is awaited all the same is the caller's to say. */
export const stop = ({ debate, effects }: DebateDraft): void => {
  if (debate.pending) effects.push({ type: 'stop', of: debate.pending.id });
};

export const say = ({ events }: DebateDraft, event: DebateDurableEvent): void => {
  events.push(event);
};

/** What did not work and does not stop the debate: told at once, and again in the result. */
export const note = (draft: DebateDraft, message: string): void => {
  draft.debate.notes = [...draft.debate.notes, message];
  say(draft, { event: 'log', data: { at: iso(draft.now), message } });
};
