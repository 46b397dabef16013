/** An instant as the wire writes it: ISO 8601 in UTC. `ms` is epoch milliseconds. */
export const iso = (ms: number): string => new Date(ms).toISOString();
