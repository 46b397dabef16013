/** Spec 05: what an agent is to its team's executor. */
export const agentStateNames = ['PENDING', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;

export const teamStateNames = ['OPEN', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
