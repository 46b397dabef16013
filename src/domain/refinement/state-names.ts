/** Spec 04; FAILED is ABORTED without a version to give back, CANCELLED is a person's doing. */
export const refinementStateNames = [
  'S0',
  'GENERATING',
  'CRITIQUING',
  'COMPLETE',
  'ABORTED',
  'FAILED',
  'CANCELLED',
] as const;
