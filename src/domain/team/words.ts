import { refused, type Refusal } from './effects.js';
import { type AgentRecord, agentOf, ancestorsOf, isIdle, type TeamState } from './state.js';

const shown = 20;

export const quoted = (text: string): string => JSON.stringify(text);

/** Whom there is instead. */
export const unknownAgent = (team: Pick<TeamState, 'agents'>, agentId: string): Refusal => {
  const ids = team.agents.map(({ plan }) => plan.agentId);
  const rest = ids.length > shown ? ` and ${ids.length - shown} more` : '';
  const there = ids.length === 0 ? 'there is none yet' : `there are ${ids.slice(0, shown).join(', ')}${rest}`;
  return refused('not_found', `there is no agent ${quoted(agentId)} in this team; ${there}`);
};

/** An agent's state as a sentence says it. */
export const stateWords = (agent: AgentRecord): string =>
  isIdle(agent) ? 'PENDING and has nothing to do yet' : agent.state;

export const wrongState = (agent: AgentRecord, why: string): Refusal =>
  refused('wrong_state', `agent ${quoted(agent.plan.agentId)} is ${stateWords(agent)}: ${why}`);

/** Why `by` may not do this to an agent: it is the agent itself, or one that it came from; null: it may. */
export const overKin = (team: TeamState, by: string | null, agentId: string, verb: string): Refusal | null => {
  if (by === null) return null;
  if (by === agentId)
    return refused('invalid_request', `agent ${quoted(by)} cannot ${verb} itself; it ends with its answer`);
  if (!agentOf(team, by) || !ancestorsOf(team, by).includes(agentId)) return null;
  return refused(
    'invalid_request',
    `agent ${quoted(by)} cannot ${verb} ${quoted(agentId)}, which it was spawned under`,
  );
};

export const backgroundIsOff = 'background agents are switched off here (PARLEY_USE_BACKGROUND_AGENTS=false)';
