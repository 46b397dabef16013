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

/** Spec 06: the eight steps, the question after a timeout, and the ends. */
export const coordinatorStateNames = [...open, 'COMPLETE', 'ABORTED', 'CANCELLED'] as const;
