import type { EndedTurn } from '../checkpoint.js';
import { hasEnded, type TeamState } from './state.js';

/** Agents whose turn has ended in a step, by the states around it: each is a boundary, unless its template names other triggers. */
export const teamTurns = (before: TeamState, after: TeamState): EndedTurn[] => {
  const known = new Map(before.agents.map((agent) => [agent.plan.agentId, agent]));
  return after.agents.flatMap((agent) => {
    const { plan, state, error, startedAt } = agent;
    const earlier = known.get(plan.agentId);
    // One that never had a slot has done nothing.
    if (!earlier || hasEnded(earlier) || !hasEnded(agent) || startedAt === null) return [];
    const triggers = plan.template?.checkpoint?.triggers;
    if (triggers && !triggers.includes(state === 'COMPLETED' ? 'on_complete' : 'on_error')) return [];
    return [{ agentId: plan.agentId, error: error?.message ?? null }];
  });
};
