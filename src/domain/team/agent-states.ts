import type { AgentStateName } from '../../contracts/team-status.js';

/** The states of an agent, in their order. */
export const agentStateNames = [
  'PENDING',
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const satisfies readonly AgentStateName[];
