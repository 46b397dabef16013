import type { RunStateName } from '../../contracts/run-status.js';
import type { Guard, Machine } from '../machine.js';
import { runStateNames } from './state-names.js';

export const runEventNames = [
  'START',
  'PREPARED',
  'STEP_SUCCEEDED',
  'STEP_FAILED',
  'STEP_STOPPED',
  'GATE_REACHED',
  'GRANTED',
  'CHANGES_REQUESTED',
  'RETRIED',
  'SKIPPED',
  'ABORTED',
  'CANCEL',
] as const;
export type RunEventName = (typeof runEventNames)[number];

export type RunActionName =
  | 'prepare_workspace'
  | 'begin_step'
  | 'next_step'
  | 'redo_step'
  | 'ask'
  | 'ask_resolution'
  | 'stop'
  | 'void_request'
  | 'emit_final';

/** What the guards of a run look at; computed anew for every event. */
export interface RunFacts {
  /** A cancel was asked for while a step was under way. */
  cancelled: boolean;
  /** The step asks people once it is done. */
  hasGate: boolean;
  /** No step follows. */
  isLast: boolean;
  /** The step has `on_error: ask`. */
  asksOnError: boolean;
}

const guard = (name: string, holds: (facts: RunFacts) => boolean): Guard<RunFacts> => ({ name, holds });
const cancelled = guard('cancel asked for', (facts) => facts.cancelled);
const hasGate = guard('the step has a gate', (facts) => facts.hasGate);
const isLast = guard('the last step', (facts) => facts.isLast);
const asksOnError = guard('on_error: ask', (facts) => facts.asksOnError);

const paused = ['awaiting_feedback', 'error'] as const satisfies readonly RunStateName[];

/** The run machine of spec 06. A step is under way in in_progress alone; a person is asked in the two pauses. */
export const runMachine: Machine<RunStateName, RunEventName, RunFacts, RunActionName> = {
  name: 'run',
  states: runStateNames,
  initial: 'pending',
  terminal: ['completed', 'cancelled'],
  events: runEventNames,
  rows: [
    { from: 'pending', on: 'START', to: 'in_progress', actions: ['prepare_workspace'] },
    { from: 'pending', on: 'CANCEL', to: 'cancelled', actions: ['emit_final'] },
    { from: 'in_progress', on: 'PREPARED', guard: cancelled, to: 'cancelled', actions: ['emit_final'] },
    { from: 'in_progress', on: 'PREPARED', to: 'in_progress', actions: ['begin_step'] },
    { from: 'in_progress', on: 'STEP_SUCCEEDED', guard: cancelled, to: 'cancelled', actions: ['emit_final'] },
    { from: 'in_progress', on: 'STEP_SUCCEEDED', guard: hasGate, to: 'awaiting_feedback', actions: ['ask'] },
    { from: 'in_progress', on: 'STEP_SUCCEEDED', guard: isLast, to: 'completed', actions: ['emit_final'] },
    { from: 'in_progress', on: 'STEP_SUCCEEDED', to: 'in_progress', actions: ['next_step'] },
    { from: 'in_progress', on: 'GATE_REACHED', to: 'awaiting_feedback', actions: ['ask'] },
    { from: 'in_progress', on: 'STEP_FAILED', guard: cancelled, to: 'cancelled', actions: ['emit_final'] },
    {
      from: 'in_progress',
      on: 'STEP_FAILED',
      guard: asksOnError,
      to: 'awaiting_feedback',
      actions: ['ask_resolution'],
    },
    { from: 'in_progress', on: 'STEP_FAILED', to: 'error', actions: ['ask_resolution'] },
    { from: 'in_progress', on: 'STEP_STOPPED', to: 'cancelled', actions: ['emit_final'] },
    { from: 'awaiting_feedback', on: 'GRANTED', guard: isLast, to: 'completed', actions: ['emit_final'] },
    { from: 'awaiting_feedback', on: 'GRANTED', to: 'in_progress', actions: ['next_step'] },
    { from: 'awaiting_feedback', on: 'CHANGES_REQUESTED', to: 'in_progress', actions: ['redo_step'] },
    { from: paused, on: 'RETRIED', to: 'in_progress', actions: ['redo_step'] },
    { from: 'awaiting_feedback', on: 'SKIPPED', guard: isLast, to: 'completed', actions: ['emit_final'] },
    { from: 'awaiting_feedback', on: 'SKIPPED', to: 'in_progress', actions: ['next_step'] },
    { from: paused, on: 'ABORTED', to: 'cancelled', actions: ['emit_final'] },
    // What is under way is stopped first: a step that takes back what it did is waited for.
    { from: 'in_progress', on: 'CANCEL', to: 'in_progress', actions: ['stop'] },
    { from: paused, on: 'CANCEL', to: 'cancelled', actions: ['void_request', 'emit_final'] },
  ],
};
