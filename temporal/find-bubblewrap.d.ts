type Env = Record<string, string | undefined>;

/** Where the preparing step puts bubblewrap. */
export function cachedBubblewrap(env?: Env): string;
/** @returns path of `bwrap` on PATH, else in the cache folder, or null */
export function findBubblewrap(env?: Env): string | null;
