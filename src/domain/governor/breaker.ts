import { type Guard, type Machine, step } from '../machine.js';

export const breakerStates = ['CLOSED', 'OPEN', 'HALF_OPEN'] as const;
export type BreakerState = (typeof breakerStates)[number];
export const breakerEvents = ['ANSWERED', 'FAILED', 'COOLED'] as const;
export type BreakerEvent = (typeof breakerEvents)[number];
export type BreakerAction = 'count' | 'reset' | 'cool' | 'cool_longer';

export interface BreakerFacts {
  /** This failure is the one too many. */
  isLast: boolean;
}

const isLast: Guard<BreakerFacts> = { name: 'failures in a row reached', holds: (facts) => facts.isLast };

/** Whether a provider is asked at all (spec 08 "breaker per provider"). What comes late of calls from before it opened changes nothing. */
export const breakerMachine: Machine<BreakerState, BreakerEvent, BreakerFacts, BreakerAction> = {
  name: 'breaker',
  states: breakerStates,
  initial: 'CLOSED',
  terminal: [],
  events: breakerEvents,
  rows: [
    { from: 'CLOSED', on: 'ANSWERED', to: 'CLOSED', actions: ['reset'] },
    { from: 'CLOSED', on: 'FAILED', guard: isLast, to: 'OPEN', actions: ['cool'] },
    { from: 'CLOSED', on: 'FAILED', to: 'CLOSED', actions: ['count'] },
    { from: 'OPEN', on: 'COOLED', to: 'HALF_OPEN', actions: [] },
    { from: 'HALF_OPEN', on: 'ANSWERED', to: 'CLOSED', actions: ['reset'] },
    { from: 'HALF_OPEN', on: 'FAILED', to: 'OPEN', actions: ['cool_longer'] },
  ],
};

export interface Breaker {
  state: BreakerState;
  /** In a row, while closed. */
  failures: number;
  /** In a row without an answer in between. */
  openings: number;
  /** Epoch milliseconds; of use while OPEN. */
  coolUntil: number;
  /** Counts its changes of state: a call whose grant is of another one says nothing of the present state. */
  epoch: number;
}

export interface BreakerRules {
  /** Failures in a row that open it, 1 and more. */
  failures: number;
  /** Twice as long each further time, up to the longest. */
  coolMs: number;
  longestCoolMs: number;
}

export const closedBreaker: Breaker = { state: 'CLOSED', failures: 0, openings: 0, coolUntil: 0, epoch: 0 };

const coolingMs = ({ coolMs, longestCoolMs }: BreakerRules, openings: number): number =>
  Math.min(longestCoolMs, coolMs * 2 ** Math.min(30, openings));

const performed = (before: Breaker, action: BreakerAction, rules: BreakerRules, now: number): Breaker => {
  switch (action) {
    case 'count':
      return { ...before, failures: before.failures + 1 };
    case 'reset':
      return { ...before, failures: 0, openings: 0, coolUntil: 0 };
    case 'cool':
      return { ...before, failures: 0, openings: 1, coolUntil: now + coolingMs(rules, 0) };
    case 'cool_longer':
      return {
        ...before,
        openings: before.openings + 1,
        coolUntil: now + coolingMs(rules, before.openings),
      };
  }
};

/** @throws InvalidTransitionError for what the table does not list */
export const breakerStep = (before: Breaker, event: BreakerEvent, rules: BreakerRules, now: number): Breaker => {
  const { to, actions } = step(breakerMachine, before.state, event, { isLast: before.failures + 1 >= rules.failures });
  const after = actions.reduce((breaker, action) => performed(breaker, action, rules, now), before);
  return { ...after, state: to, epoch: to === before.state ? before.epoch : before.epoch + 1 };
};

/** What a call's end says; `epoch` is the breaker's when the call was granted. */
export const breakerHeard = (
  before: Breaker,
  event: 'ANSWERED' | 'FAILED',
  epoch: number,
  rules: BreakerRules,
  now: number,
): Breaker => (epoch === before.epoch && before.state !== 'OPEN' ? breakerStep(before, event, rules, now) : before);
