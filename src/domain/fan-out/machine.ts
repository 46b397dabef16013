import type { FanOutStateName } from '../../contracts/fan-out-status.js';
import type { Guard, Machine } from '../machine.js';
import { fanOutStateNames } from './state-names.js';

export const fanOutEventNames = [
  'START',
  'PREPARED',
  'SETTLED',
  'TIMEOUT',
  'COMBINED',
  'SCORED',
  'FAULT',
  'CANCEL',
] as const;
export type FanOutEventName = (typeof fanOutEventNames)[number];

export type FanOutActionName =
  | 'admit'
  | 'prepare'
  | 'dispatch'
  | 'release_barrier'
  | 'stop'
  | 'fan_in'
  | 'score'
  | 'name_reasons'
  | 'name_fault'
  | 'emit_final';

/** Where what comes of a step of the fan-out itself is waited for. */
export const stageState = { prepare: 'PREPARING', fan_in: 'FANNING_IN', score: 'SCORING' } as const;

/** What the guards look at; computed anew for every event. */
export interface FanOutFacts {
  /** Enough tasks have completed to go on. */
  passes: boolean;
  /** The combined result is to be scored, and there is one. */
  isScored: boolean;
}

const guard = (name: string, holds: (facts: FanOutFacts) => boolean): Guard<FanOutFacts> => ({ name, holds });
const passes = guard('all completed, or partial mode and ratio reached', (facts) => facts.passes);
const isScored = guard('quality asked for', (facts) => facts.isScored);

/** Spec 03: fan-out, barrier, fan-in. */
export const fanOutMachine: Machine<FanOutStateName, FanOutEventName, FanOutFacts, FanOutActionName> = {
  name: 'fan-out',
  states: fanOutStateNames,
  initial: 'IDLE',
  terminal: ['COMPLETED', 'FAILED', 'CANCELLED'],
  events: fanOutEventNames,
  rows: [
    { from: 'IDLE', on: 'START', to: 'PREPARING', actions: ['admit', 'prepare'] },
    { from: 'PREPARING', on: 'PREPARED', to: 'RUNNING', actions: ['dispatch'] },
    { from: 'PREPARING', on: 'FAULT', to: 'FAILED', actions: ['name_fault'] },
    // Everything settled decides now, not at the timeout.
    { from: 'RUNNING', on: 'SETTLED', guard: passes, to: 'FANNING_IN', actions: ['release_barrier', 'fan_in'] },
    { from: 'RUNNING', on: 'SETTLED', to: 'FAILED', actions: ['release_barrier', 'name_reasons'] },
    {
      from: 'RUNNING',
      on: 'TIMEOUT',
      guard: passes,
      to: 'FANNING_IN',
      actions: ['release_barrier', 'stop', 'fan_in'],
    },
    { from: 'RUNNING', on: 'TIMEOUT', to: 'FAILED', actions: ['release_barrier', 'stop', 'name_reasons'] },
    { from: 'FANNING_IN', on: 'COMBINED', guard: isScored, to: 'SCORING', actions: ['score'] },
    { from: 'FANNING_IN', on: 'COMBINED', to: 'COMPLETED', actions: ['emit_final'] },
    { from: 'FANNING_IN', on: 'FAULT', to: 'FAILED', actions: ['name_fault'] },
    { from: 'SCORING', on: 'SCORED', to: 'COMPLETED', actions: ['emit_final'] },
    {
      from: ['IDLE', 'PREPARING', 'RUNNING'],
      on: 'CANCEL',
      to: 'CANCELLED',
      actions: ['release_barrier', 'stop'],
    },
    { from: ['FANNING_IN', 'SCORING'], on: 'CANCEL', to: 'CANCELLED', actions: ['stop'] },
  ],
};
