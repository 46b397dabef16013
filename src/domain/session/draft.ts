import { noAmount } from '../budget.js';
import { iso } from '../instant.js';
import type { Amount } from './setup.js';
import type { Session } from './state.js';
import type { SessionStep } from './step.js';

/**
 * A session in the middle of a step, with what has come of it so far. Functions that take a draft change it: they assign
 * members of `session`, which is the step's own copy, and never reach into what a member holds. Functions that take a
 * session only look at it.
 */
export interface SessionDraft extends Readonly<SessionStep> {
  /** Epoch milliseconds. */
  readonly now: number;
  /** What the bronze lanes that this step cancelled had left of their reservations. */
  freed: Amount;
}

export const openDraft = (session: Session, now: number): SessionDraft => ({
  session: { ...session, steppedAt: Math.max(session.steppedAt, now) },
  now,
  effects: [],
  events: [],
  freed: noAmount,
});

export const note = ({ now, events }: SessionDraft, message: string): void => {
  events.push({ event: 'log', data: { at: iso(now), message } });
};

export const inWords = (faults: readonly { message: string }[]): string =>
  faults.map(({ message }) => message).join('; ');
