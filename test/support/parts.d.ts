type Env = Record<string, string | undefined>;

/** Path of a browser for the page's tests, or null. */
export function findChromium(env?: Env): string | null;
/** Paths of PostgreSQL's programs, or null. */
export function findPostgres(env?: Env): { initdb: string; postgres: string } | null;
/** Path of the server that speaks MongoDB's protocol, or null. */
export function findFerretDb(env?: Env): string | null;
/** Path of the server that speaks S3's protocol, or null. */
export function findS3Server(env?: Env): string | null;
/** Path of bubblewrap where it works here, or null. */
export function findSandbox(env?: Env): string | null;
export const parts: {
  name: string;
  for: string;
  find: (env?: Env) => unknown;
  apt?: string[];
  build?: (say: (line: string) => void, env?: Env) => Promise<void>;
  seconds?: number;
  hint?: string;
}[];
