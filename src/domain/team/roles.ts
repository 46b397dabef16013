import type { LiteAgent } from './setup.js';
import type { AgentRecord, TeamState } from './state.js';

export const agentsOfRole = ({ agents }: Pick<TeamState, 'agents'>, role: string): AgentRecord[] =>
  agents.filter(({ plan }) => plan.role === role);

export const liteAgentsOfRole = ({ setup }: Pick<TeamState, 'setup'>, role: string): LiteAgent[] =>
  setup.liteAgents.filter((agent) => agent.role === role);

/**
 * The next agent of a role, round robin in the order of spawning: the one after the last that was chosen, whoever has been
 * removed or added since; null: nobody has the role (details 3.4). The choice is written down in `rotation`.
 */
export const chooseByRole = (team: TeamState, role: string): AgentRecord | null => {
  const agents = agentsOfRole(team, role);
  const last = team.rotation[role] ?? 0;
  const chosen = agents.find(({ spawn }) => spawn > last) ?? agents[0];
  if (!chosen) return null;
  team.rotation = { ...team.rotation, [role]: chosen.spawn };
  return chosen;
};
