type Env = Record<string, string | undefined>;

/** Path of a browser for the page's tests, or null. */
export function findChromium(env?: Env): string | null;
/** Paths of PostgreSQL's programs, or null. */
export function findPostgres(env?: Env): { initdb: string; postgres: string } | null;
export const parts: { name: string; for: string; find: (env?: Env) => unknown; apt: string[]; seconds: number }[];
