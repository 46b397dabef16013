import type { TeamStateName } from '../../contracts/team-status.js';
import type { Guard, Machine } from '../machine.js';
import { teamStateNames } from './state-names.js';

export const teamEventNames = ['PAUSE', 'RESUME', 'CLOSE', 'ALL_ENDED', 'CANCEL'] as const;
export type TeamEventName = (typeof teamEventNames)[number];

export type TeamActionName = 'close' | 'pause_agents' | 'resume_agents' | 'stop_agents' | 'emit_final' | 'name_reasons';

/** What the guards look at; computed anew for every event. */
export interface TeamFacts {
  isClosed: boolean;
  hasCompleted: boolean;
  hasFailed: boolean;
  /** Somebody was asked for something. */
  wasAsked: boolean;
}

const guard = (name: string, holds: (facts: TeamFacts) => boolean): Guard<TeamFacts> => ({ name, holds });
const isOpen = guard('not closed', ({ isClosed }) => !isClosed);
const hasDone = guard('an agent completed, or none was asked', (facts) => facts.hasCompleted || !facts.wasAsked);
const hasFailed = guard('an agent failed', (facts) => facts.hasFailed);

/** Spec 05: a team ends when all its agents have ended or, with `keep_open`, when it is closed and they have. */
export const teamMachine: Machine<TeamStateName, TeamEventName, TeamFacts, TeamActionName> = {
  name: 'team',
  states: teamStateNames,
  initial: 'OPEN',
  terminal: ['COMPLETED', 'FAILED', 'CANCELLED'],
  events: teamEventNames,
  rows: [
    { from: 'OPEN', on: 'PAUSE', to: 'PAUSED', actions: ['pause_agents'] },
    { from: 'PAUSED', on: 'RESUME', to: 'OPEN', actions: ['resume_agents'] },
    { from: 'OPEN', on: 'CLOSE', guard: isOpen, to: 'OPEN', actions: ['close'] },
    { from: 'PAUSED', on: 'CLOSE', guard: isOpen, to: 'PAUSED', actions: ['close'] },
    { from: ['OPEN', 'PAUSED'], on: 'ALL_ENDED', guard: hasDone, to: 'COMPLETED', actions: ['emit_final'] },
    { from: ['OPEN', 'PAUSED'], on: 'ALL_ENDED', guard: hasFailed, to: 'FAILED', actions: ['name_reasons'] },
    { from: ['OPEN', 'PAUSED'], on: 'ALL_ENDED', to: 'CANCELLED', actions: [] },
    { from: ['OPEN', 'PAUSED'], on: 'CANCEL', to: 'CANCELLED', actions: ['stop_agents'] },
  ],
};
