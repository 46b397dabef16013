import type { CoordinatorStateName } from '../../contracts/coordinator-status.js';
import type { Guard, Machine } from '../machine.js';
import { coordinatorStateNames, open } from './state-names.js';

export const coordinatorEventNames = [
  'START',
  'TRACKED',
  'STOPPED',
  'TIMED_OUT',
  'CONTINUE',
  'ABORT',
  'AGGREGATED',
  'CHANGED',
  'MOVED_ON',
  'RESPONSES',
  'PARSED',
  'DISTRIBUTED',
  'RESUMED',
  'CANCEL',
] as const;
export type CoordinatorEventName = (typeof coordinatorEventNames)[number];

export type CoordinatorActionName =
  | 'track'
  | 'wait'
  | 'aggregate'
  | 'parse'
  | 'distribute'
  | 'resume'
  | 'ask_to_wait'
  | 'void_question'
  | 'emit_final'
  | 'stop_runs';

/** What the guards of a coordinator look at; computed anew for every event. */
export interface CoordinatorFacts {
  /** A run awaits feedback or has failed. */
  needsFeedback: boolean;
  /** A response fits an open request. */
  hasAnswers: boolean;
  /** The coordinator's own question is open. */
  isAsking: boolean;
  /** An answered run has not taken its answer yet. */
  isResuming: boolean;
  /** Every run is at a stop. */
  allStopped: boolean;
  /** There is a report, so that people have been asked. */
  hasReport: boolean;
  /** The latest report still holds: no run has said anything new since. */
  isReported: boolean;
}

const guard = (name: string, holds: (facts: CoordinatorFacts) => boolean): Guard<CoordinatorFacts> => ({ name, holds });
const needsFeedback = guard('a run needs feedback', (facts) => facts.needsFeedback);
const hasAnswers = guard('a response is valid', (facts) => facts.hasAnswers);
const isAsking = guard('its own question is open', (facts) => facts.isAsking);
const isResuming = guard('a run is being resumed', (facts) => facts.isResuming);
const allStopped = guard('all runs are at a stop', (facts) => facts.allStopped);
const hasReport = guard('there is a report', (facts) => facts.hasReport);
const isReported = guard('nothing is new since the latest report', (facts) => facts.isReported);

/**
 * The eight steps of spec 06 as a machine. AGGREGATING, PARSING and DISTRIBUTING are passed through at once; responses are
 * taken from the first report on, also while answered runs go on, so that nobody has to wait for others.
 */
export const coordinatorMachine: Machine<
  CoordinatorStateName,
  CoordinatorEventName,
  CoordinatorFacts,
  CoordinatorActionName
> = {
  name: 'coordinator',
  states: coordinatorStateNames,
  initial: 'S0',
  terminal: ['COMPLETE', 'ABORTED', 'CANCELLED'],
  events: coordinatorEventNames,
  rows: [
    { from: 'S0', on: 'START', to: 'TRACKING', actions: ['track'] },
    { from: 'TRACKING', on: 'TRACKED', to: 'WAITING', actions: ['wait'] },
    { from: 'MONITORING', on: 'STOPPED', guard: isReported, to: 'PRESENTING', actions: [] },
    { from: ['WAITING', 'MONITORING'], on: 'STOPPED', to: 'AGGREGATING', actions: ['aggregate'] },
    { from: ['WAITING', 'MONITORING'], on: 'TIMED_OUT', to: 'ASKING', actions: ['ask_to_wait'] },
    { from: 'ASKING', on: 'STOPPED', to: 'AGGREGATING', actions: ['void_question', 'aggregate'] },
    { from: 'ASKING', on: 'CONTINUE', guard: hasReport, to: 'MONITORING', actions: ['wait'] },
    { from: 'ASKING', on: 'CONTINUE', to: 'WAITING', actions: ['wait'] },
    { from: 'ASKING', on: 'ABORT', to: 'ABORTED', actions: ['emit_final'] },
    { from: 'ASKING', on: 'RESPONSES', guard: hasReport, to: 'PARSING', actions: ['parse'] },
    { from: 'AGGREGATING', on: 'AGGREGATED', guard: needsFeedback, to: 'PRESENTING', actions: [] },
    { from: 'AGGREGATING', on: 'AGGREGATED', to: 'COMPLETE', actions: ['emit_final'] },
    { from: 'PRESENTING', on: 'CHANGED', to: 'AGGREGATING', actions: ['aggregate'] },
    { from: 'PRESENTING', on: 'MOVED_ON', to: 'MONITORING', actions: ['wait'] },
    { from: ['PRESENTING', 'RESUMING', 'MONITORING'], on: 'RESPONSES', to: 'PARSING', actions: ['parse'] },
    { from: 'PARSING', on: 'PARSED', guard: hasAnswers, to: 'DISTRIBUTING', actions: ['void_question', 'distribute'] },
    { from: 'PARSING', on: 'PARSED', guard: isAsking, to: 'ASKING', actions: [] },
    { from: 'PARSING', on: 'PARSED', guard: isResuming, to: 'RESUMING', actions: [] },
    { from: 'PARSING', on: 'PARSED', guard: allStopped, to: 'PRESENTING', actions: [] },
    { from: 'PARSING', on: 'PARSED', to: 'MONITORING', actions: [] },
    { from: 'DISTRIBUTING', on: 'DISTRIBUTED', to: 'RESUMING', actions: ['resume'] },
    { from: 'RESUMING', on: 'RESUMED', to: 'MONITORING', actions: ['wait'] },
    { from: open, on: 'CANCEL', to: 'CANCELLED', actions: ['void_question', 'stop_runs'] },
  ],
};
