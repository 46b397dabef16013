import type { DebateStateName } from '../../contracts/debate-status.js';

// The contract's list again as values: contracts import zod, which workflow code does not load. The types keep them equal.
const complete = (states: Record<DebateStateName, true>): readonly DebateStateName[] =>
  Object.keys(states) as DebateStateName[];

export const debateStateNames = complete({
  IDLE: true,
  VERIFYING_IDENTITY: true,
  LOADING_CONTEXT: true,
  CLASSIFYING: true,
  PLANNING: true,
  ROUND_ANALYST: true,
  ROUND_SOLUTION: true,
  ROUND_CRITIC: true,
  ROUND_SECURITY: true,
  ROUND_OPTIMIZER: true,
  MULTI_PASS_CHECK: true,
  AGGREGATING: true,
  CALCULATING_CONSENSUS: true,
  ELO_DUELS: true,
  RESOLVING: true,
  AWAITING_APPROVAL: true,
  BLOCKED: true,
  EXECUTING: true,
  VALIDATING: true,
  SUCCEEDED: true,
  SELF_HEALING: true,
  ROLLING_BACK: true,
  STORING_MEMORY: true,
  AUDITING: true,
  DONE: true,
  ABORTED: true,
});
