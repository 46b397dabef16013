/** Those in which it goes on. */
export const open = [
  'S0',
  'TRACKING',
  'WAITING',
  'ASKING',
  'AGGREGATING',
  'PRESENTING',
  'PARSING',
  'DISTRIBUTING',
  'RESUMING',
  'MONITORING',
] as const;

/** What a run can say of itself to its coordinator (details 5.1). */
export const runStatuses = ['pending', 'in_progress', 'completed', 'awaiting_feedback', 'error', 'cancelled'] as const;

/** Spec 06: the eight steps, the question after a timeout, and the ends. */
export const coordinatorStateNames = [...open, 'COMPLETE', 'ABORTED', 'CANCELLED'] as const;
