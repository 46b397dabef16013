// Where the Temporal server is. Node built-ins only: `prepare.js` asks before anything is installed.
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The user's cache folder: what can be fetched again. */
export const cacheFolder = (env = process.env) =>
  join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'parley');

/** Where `prepare.js` puts the server program, and where it is looked for. */
export const cachedServer = (env = process.env) =>
  join(cacheFolder(env), 'bin', process.platform === 'win32' ? 'temporal.exe' : 'temporal');

export const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** @returns the first of `names` on PATH, or null */
export const onPath = (names, env = process.env) => {
  for (const name of names) {
    for (const folder of (env.PATH ?? '').split(delimiter)) {
      const path = join(folder, name);
      if (folder !== '' && isProgram(path)) return path;
    }
  }
  return null;
};

/**
 * Looks, and fetches nothing, in the order of the README: TEMPORAL_ADDRESS, TEMPORAL_CLI, PATH, the cache folder.
 * @returns {{address: string} | {executable: string} | null}
 * @throws when TEMPORAL_CLI names no program
 */
export const findServer = (env = process.env) => {
  if (env.TEMPORAL_ADDRESS) return { address: env.TEMPORAL_ADDRESS };
  return findServerProgram(env);
};

/** As `findServer`, for tests and others that start a server of their own whatever TEMPORAL_ADDRESS says. */
export const findServerProgram = (env = process.env) => {
  if (env.TEMPORAL_CLI) {
    if (isProgram(env.TEMPORAL_CLI)) return { executable: env.TEMPORAL_CLI };
    throw new Error(
      `TEMPORAL_CLI=${env.TEMPORAL_CLI} is not a program; set it to the path of the temporal CLI, or unset it.`,
    );
  }
  const executable =
    onPath(['temporal', 'temporal.exe'], env) ?? (isProgram(cachedServer(env)) ? cachedServer(env) : null);
  return executable === null ? null : { executable };
};

/** Every way to a server, for messages. */
export const waysToServer = (env = process.env) =>
  [
    'Parley needs a Temporal server. Any one of these is enough:',
    '  - a server that runs already:        TEMPORAL_ADDRESS=HOST:PORT npm start',
    '  - the temporal CLI somewhere:        TEMPORAL_CLI=/path/to/temporal npm start',
    '  - the temporal CLI on PATH:          see https://docs.temporal.io/cli (brew install temporal, or a download)',
    `  - the temporal CLI as a file:        ${cachedServer(env)}`,
    '  - Go 1.24 or later on PATH, and a way to its modules: npm start then builds the CLI itself',
  ].join('\n');
