/** States in which a cancel finds nothing to take back. */
export const deliberating = [
  'IDLE',
  'VERIFYING_IDENTITY',
  'LOADING_CONTEXT',
  'CLASSIFYING',
  'PLANNING',
  'ROUND_ANALYST',
  'ROUND_SOLUTION',
  'ROUND_CRITIC',
  'ROUND_SECURITY',
  'ROUND_OPTIMIZER',
  'MULTI_PASS_CHECK',
  'AGGREGATING',
  'CALCULATING_CONSENSUS',
  'ELO_DUELS',
  'RESOLVING',
] as const;

/** Spec 02, in its order; AWAITING_APPROVAL is the human gate before EXECUTING. */
export const debateStateNames = [
  ...deliberating,
  'AWAITING_APPROVAL',
  'BLOCKED',
  'EXECUTING',
  'VALIDATING',
  'SUCCEEDED',
  'SELF_HEALING',
  'ROLLING_BACK',
  'STORING_MEMORY',
  'AUDITING',
  'DONE',
  'ABORTED',
] as const;
