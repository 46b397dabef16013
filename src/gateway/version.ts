/** What this build calls itself to its callers. */
export const version = '0.1.0';
