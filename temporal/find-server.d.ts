type Env = Record<string, string | undefined>;

/** The user's cache folder: what can be fetched again. */
export function cacheFolder(env?: Env): string;
/** Where the preparing step puts the server program. */
export function cachedServer(env?: Env): string;
export function isProgram(path: string): boolean;
/** @returns the first of `names` on PATH, or null */
export function onPath(names: string[], env?: Env): string | null;
/**
 * Looks, and fetches nothing, in the order TEMPORAL_ADDRESS, TEMPORAL_CLI, PATH, the cache folder.
 * @throws when TEMPORAL_CLI names no program
 */
export function findServer(env?: Env): { address: string } | { executable: string } | null;
/** As `findServer`, without TEMPORAL_ADDRESS: for who starts a server of their own. */
export function findServerProgram(env?: Env): { executable: string } | null;
/** Every way to a server, for messages. */
export function waysToServer(env?: Env): string;
