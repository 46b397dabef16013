import type { TeamResult } from '../../contracts/team-status.js';
import type { TeamState } from './state.js';

/** What a team comes to: how each of its agents ended, in the order of the team. */
export const teamResult = ({ agents }: Pick<TeamState, 'agents'>): TeamResult => {
  const count = (state: string): number => agents.filter((agent) => agent.state === state).length;
  return {
    completed: count('COMPLETED'),
    failed: count('FAILED'),
    cancelled: count('CANCELLED'),
    agents: agents.map(({ plan, state, result, error }) => ({ agent_id: plan.agentId, state, result, error })),
  };
};
