import type { AgentRecord, TeamState } from './state.js';

/** Agents that wait for others: they call nothing meanwhile, and lend their slot, or those might never begin. */
const lenders = ({ waits }: TeamState): Set<string> => new Set(waits.flatMap(({ by }) => by ?? []));

/** Slots in use: a running and a paused agent has one each (details 3.1), but for those that wait for others. */
export const slotsInUse = (team: TeamState): number => {
  const lending = lenders(team);
  return team.agents.filter(
    ({ state, plan }) => (state === 'RUNNING' || state === 'PAUSED') && !lending.has(plan.agentId),
  ).length;
};

/** Those whose turn waits for a slot, in the order in which they were asked. */
export const inLine = ({ agents }: TeamState): AgentRecord[] =>
  agents
    .filter(({ state, turn }) => state === 'PENDING' && turn !== null)
    .sort((a, b) => (a.turn?.run ?? 0) - (b.turn?.run ?? 0));

/** Questions that wait for a slot, or for one to the same agent that was asked before (details 3.1). */
export const queueDepth = (team: Pick<TeamState, 'agents'>): number =>
  team.agents.reduce(
    (sum, { state, turn, queue }) => sum + queue.length + (state === 'PENDING' && turn !== null ? 1 : 0),
    0,
  );
