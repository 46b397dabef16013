/** Spec 06: the last four are the stop states, of which `awaiting_feedback` and `error` are pauses. */
export const runStateNames = [
  'pending',
  'in_progress',
  'awaiting_feedback',
  'error',
  'completed',
  'cancelled',
] as const;
