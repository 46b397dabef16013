import { agentStateNames } from './state-names.js';
import type { AgentStateName, LatencyPercentiles, TeamStats } from '../../contracts/team-status.js';
import { queueDepth, slotsInUse } from './slot-use.js';
import type { TeamState } from './state.js';

/** By nearest rank, over all that are given; null: none is. */
export const percentilesOf = (values: readonly number[]): LatencyPercentiles | null => {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { count: sorted.length, p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
};

/** Counts by state, slots, queue and latency (details 3.1). */
export const teamStats = (team: TeamState): TeamStats => {
  const { agents, setup, latencies, slotWaits } = team;
  const counts = Object.fromEntries(agentStateNames.map((state) => [state, 0])) as Record<AgentStateName, number>;
  for (const { state } of agents) counts[state] += 1;
  const concurrent = slotsInUse(team);
  return {
    max_concurrent: setup.maxConcurrent,
    total_agents: agents.length,
    by_state: counts,
    free_slots: setup.maxConcurrent - concurrent,
    concurrent,
    queue_depth: queueDepth(team),
    latency_ms: percentilesOf(latencies),
    slot_wait_ms: percentilesOf(slotWaits),
  };
};
