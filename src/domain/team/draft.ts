import type { TeamDurableEvent } from '../../contracts/team-events.js';
import { iso } from '../instant.js';
import { step } from '../machine.js';
import { type AgentActionName, type AgentEventName, agentMachine } from './agent-machine.js';
import type { CallAnswer, TeamEffect } from './effects.js';
import type { TurnEnd } from './outcome.js';
import { type AgentRecord, isIdle, type TeamState } from './state.js';

/** What one step of a team gives: the next state, what is to be done, what happened, and what a call is answered. */
export interface TeamStep {
  team: TeamState;
  effects: TeamEffect[];
  events: TeamDurableEvent[];
  /** null: the event was no call. */
  answer: CallAnswer | null;
}

/** A team in the middle of a step: functions that take a draft assign members of its `team`, the step's own copy. */
export interface TeamDraft extends Readonly<Omit<TeamStep, 'answer'>> {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Runs that have begun and ended in this step, for those that wait for them. */
  readonly began: number[];
  readonly ended: { run: number; end: TurnEnd }[];
}

export const openDraft = (team: TeamState, now: number): TeamDraft => ({
  team: { ...team, steppedAt: Math.max(team.steppedAt, now) },
  now,
  effects: [],
  events: [],
  began: [],
  ended: [],
});

export const say = ({ events }: TeamDraft, event: TeamDurableEvent): void => void events.push(event);

export const replaceAgent = (draft: TeamDraft, agent: AgentRecord): AgentRecord => {
  const { team } = draft;
  team.agents = team.agents.map((other) => (other.plan.agentId === agent.plan.agentId ? agent : other));
  return agent;
};

/** Tells of an agent as it stands. */
export const tellAgent = (draft: TeamDraft, { plan, state, turns, error }: AgentRecord): void =>
  say(draft, {
    event: 'agent',
    data: {
      at: iso(draft.now),
      agent_id: plan.agentId,
      role: plan.role,
      parent: plan.parent,
      state,
      turn: turns,
      error,
    },
  });

/**
 * One step of an agent's machine with what it changes of the record, told where the state is another; the actions are left to
 * whoever calls.
 * @throws InvalidTransitionError where the agent takes no such event now.
 */
export const moveAgent = (
  draft: TeamDraft,
  agent: AgentRecord,
  on: AgentEventName,
  change: Partial<AgentRecord> = {},
): { agent: AgentRecord; actions: readonly AgentActionName[] } => {
  const facts = { isIdle: isIdle(agent), held: agent.held?.as ?? null };
  const { to, actions } = step(agentMachine, agent.state, on, facts);
  const moved = replaceAgent(draft, { ...agent, ...change, state: to });
  if (to !== agent.state) tellAgent(draft, moved);
  return { agent: moved, actions };
};
