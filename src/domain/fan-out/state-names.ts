/** The states of a fan-out, in their order. */
export const fanOutStateNames = [
  'IDLE',
  'PREPARING',
  'RUNNING',
  'FANNING_IN',
  'SCORING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const;
