import type { AgentStateName } from '../../contracts/team-status.js';
import type { Guard, Machine } from '../machine.js';
import { agentStateNames } from './state-names.js';

export const agentEventNames = ['ASK', 'START', 'COMPLETE', 'FAIL', 'ABORT', 'PAUSE', 'RESUME', 'CANCEL'] as const;
export type AgentEventName = (typeof agentEventNames)[number];

export type AgentActionName = 'join_line' | 'run' | 'hold_end' | 'end' | 'hold' | 'go_on' | 'stop';

/** What the guards look at; computed anew for every event. */
export interface AgentFacts {
  /** It has been asked for nothing that has not ended. */
  isIdle: boolean;
  /** How the turn ended while the agent was paused; null: it has not. */
  held: 'completed' | 'failed' | 'cancelled' | null;
}

const guard = (name: string, holds: (facts: AgentFacts) => boolean): Guard<AgentFacts> => ({ name, holds });
const isIdle = guard('asked for nothing yet', (facts) => facts.isIdle);
const heldAs = (end: NonNullable<AgentFacts['held']>): Guard<AgentFacts> =>
  guard(`${end} meanwhile`, ({ held }) => held === end);

/**
 * Spec 05 and details 3.1: pause only from RUNNING, resume only from PAUSED, cancel from any live state. What ends while it is
 * paused is held until it is resumed: a paused agent never changes by itself.
 */
export const agentMachine: Machine<AgentStateName, AgentEventName, AgentFacts, AgentActionName> = {
  name: 'agent',
  states: agentStateNames,
  initial: 'PENDING',
  terminal: ['COMPLETED', 'FAILED', 'CANCELLED'],
  events: agentEventNames,
  rows: [
    { from: 'PENDING', on: 'ASK', guard: isIdle, to: 'PENDING', actions: ['join_line'] },
    { from: 'PENDING', on: 'START', to: 'RUNNING', actions: ['run'] },
    { from: 'PENDING', on: 'CANCEL', to: 'CANCELLED', actions: ['end'] },
    { from: 'RUNNING', on: 'COMPLETE', to: 'COMPLETED', actions: ['end'] },
    { from: 'RUNNING', on: 'FAIL', to: 'FAILED', actions: ['end'] },
    { from: 'RUNNING', on: 'ABORT', to: 'CANCELLED', actions: ['end'] },
    { from: 'RUNNING', on: 'PAUSE', to: 'PAUSED', actions: ['hold'] },
    { from: 'RUNNING', on: 'CANCEL', to: 'CANCELLED', actions: ['stop', 'end'] },
    { from: 'PAUSED', on: 'COMPLETE', to: 'PAUSED', actions: ['hold_end'] },
    { from: 'PAUSED', on: 'FAIL', to: 'PAUSED', actions: ['hold_end'] },
    { from: 'PAUSED', on: 'ABORT', to: 'PAUSED', actions: ['hold_end'] },
    { from: 'PAUSED', on: 'RESUME', guard: heldAs('completed'), to: 'COMPLETED', actions: ['end'] },
    { from: 'PAUSED', on: 'RESUME', guard: heldAs('failed'), to: 'FAILED', actions: ['end'] },
    { from: 'PAUSED', on: 'RESUME', guard: heldAs('cancelled'), to: 'CANCELLED', actions: ['end'] },
    { from: 'PAUSED', on: 'RESUME', to: 'RUNNING', actions: ['go_on'] },
    { from: 'PAUSED', on: 'CANCEL', to: 'CANCELLED', actions: ['stop', 'end'] },
    { from: ['COMPLETED', 'FAILED', 'CANCELLED'], on: 'ASK', to: 'PENDING', actions: ['join_line'] },
  ],
};
