/** Those in which it goes on. */
export const live = [
  'INIT',
  'DISPATCHED',
  'STREAMING',
  'BUFFERING',
  'PROVISIONAL',
  'RECONCILING',
  'DEADLINE',
  'ARBITER',
] as const;

export const sessionStateNames = [...live, 'COMPLETE', 'ERROR', 'CANCELLED'] as const;
