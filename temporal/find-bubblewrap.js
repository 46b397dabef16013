// Where bubblewrap is. Node built-ins only: `prepare.js` asks before anything is installed.
import { join } from 'node:path';
import { cacheFolder, isProgram, onPath } from './find-server.js';

/** Where `prepare.js` puts bubblewrap, and where it is looked for. */
export const cachedBubblewrap = (env = process.env) => join(cacheFolder(env), 'bin', 'bwrap');

/** @returns path of `bwrap` on PATH, else in the cache folder, or null */
export const findBubblewrap = (env = process.env) =>
  onPath(['bwrap'], env) ?? (isProgram(cachedBubblewrap(env)) ? cachedBubblewrap(env) : null);
