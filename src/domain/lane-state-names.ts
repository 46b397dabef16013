export const laneStateNames = [
  'INIT',
  'ADMITTED',
  'REJECTED',
  'STREAMING',
  'PAUSED',
  'FINALIZED',
  'FAILED',
  'CANCELLED',
] as const;
