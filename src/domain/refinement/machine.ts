import type { RefinementStateName } from '../../contracts/refinement-status.js';
import type { Guard, Machine } from '../machine.js';
import { refinementStateNames } from './state-names.js';

export const refinementEventNames = [
  'START',
  'GENERATED',
  'SCORED',
  'UNSCORED',
  'GENERATOR_FAILED',
  'CRITIC_FAILED',
  'TIMED_OUT',
  'BUDGET_GONE',
  'CANCEL',
] as const;
export type RefinementEventName = (typeof refinementEventNames)[number];

export type RefinementActionName = 'generate' | 'critique' | 'ask_again' | 'emit_final' | 'name_fault' | 'stop';

/** What the guards of a refinement look at; computed anew for every event. */
export interface RefinementFacts {
  /** The latest score is at least `quality_threshold`. */
  meetsThreshold: boolean;
  /** This iteration is number `max_iterations`. */
  isLast: boolean;
  /** The latest score is at least `improvement_threshold` above the one before; true where there is none before. */
  improves: boolean;
  /** A version has a score, so that there is something to give back. */
  hasScore: boolean;
}

const guard = (name: string, holds: (facts: RefinementFacts) => boolean): Guard<RefinementFacts> => ({ name, holds });
const meetsThreshold = guard('score >= quality_threshold', (facts) => facts.meetsThreshold);
const isLast = guard('iteration = max_iterations', (facts) => facts.isLast);
const noImprovement = guard('improvement < improvement_threshold', (facts) => !facts.improves);
const hasScore = guard('a version has a score', (facts) => facts.hasScore);

const working = ['GENERATING', 'CRITIQUING'] as const satisfies readonly RefinementStateName[];

/** The machine of spec 04. The order of the rows from SCORED is the order of the stops. */
export const refinementMachine: Machine<
  RefinementStateName,
  RefinementEventName,
  RefinementFacts,
  RefinementActionName
> = {
  name: 'refinement',
  states: refinementStateNames,
  initial: 'S0',
  terminal: ['COMPLETE', 'ABORTED', 'FAILED', 'CANCELLED'],
  events: refinementEventNames,
  rows: [
    { from: 'S0', on: 'START', to: 'GENERATING', actions: ['generate'] },
    { from: 'GENERATING', on: 'GENERATED', to: 'CRITIQUING', actions: ['critique'] },
    { from: 'CRITIQUING', on: 'SCORED', guard: meetsThreshold, to: 'COMPLETE', actions: ['emit_final'] },
    { from: 'CRITIQUING', on: 'SCORED', guard: isLast, to: 'ABORTED', actions: ['emit_final'] },
    { from: 'CRITIQUING', on: 'SCORED', guard: noImprovement, to: 'ABORTED', actions: ['emit_final'] },
    { from: 'CRITIQUING', on: 'SCORED', to: 'GENERATING', actions: ['generate'] },
    { from: 'CRITIQUING', on: 'UNSCORED', to: 'CRITIQUING', actions: ['ask_again'] },
    { from: 'GENERATING', on: 'GENERATOR_FAILED', guard: hasScore, to: 'ABORTED', actions: ['emit_final'] },
    { from: 'GENERATING', on: 'GENERATOR_FAILED', to: 'FAILED', actions: ['name_fault'] },
    { from: 'CRITIQUING', on: 'CRITIC_FAILED', guard: hasScore, to: 'ABORTED', actions: ['emit_final'] },
    { from: 'CRITIQUING', on: 'CRITIC_FAILED', to: 'FAILED', actions: ['name_fault'] },
    { from: working, on: 'TIMED_OUT', guard: hasScore, to: 'ABORTED', actions: ['stop', 'emit_final'] },
    { from: working, on: 'TIMED_OUT', to: 'FAILED', actions: ['stop', 'name_fault'] },
    { from: working, on: 'BUDGET_GONE', guard: hasScore, to: 'ABORTED', actions: ['emit_final'] },
    { from: working, on: 'BUDGET_GONE', to: 'FAILED', actions: ['name_fault'] },
    { from: ['S0', 'GENERATING', 'CRITIQUING'], on: 'CANCEL', to: 'CANCELLED', actions: ['stop'] },
  ],
};
