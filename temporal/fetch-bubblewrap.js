// Gets bubblewrap into the user's cache folder: the system's own package, unpacked there. Needs no root.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedBubblewrap } from './find-bubblewrap.js';
import { cacheFolder, onPath } from './find-server.js';
import { run } from './go.js';

const limitMs = 120_000;

/** Whether this system has packages that `fetchBubblewrap` can unpack. */
export const canFetchBubblewrap = (env = process.env) =>
  process.platform === 'linux' && onPath(['apt-get'], env) !== null && onPath(['dpkg-deb'], env) !== null;

/**
 * @param {(line: string) => void} say
 * @returns {Promise<string>} its path
 * @throws when the package cannot be had or does not run here
 */
export async function fetchBubblewrap(say, env = process.env) {
  mkdirSync(join(cacheFolder(env), 'bin'), { recursive: true });
  // In the cache folder, so that the rename at the end stays within one file system.
  const folder = mkdtempSync(join(cacheFolder(env), 'fetch-'));
  const apt = (...args) =>
    run('apt-get', args, { cwd: folder, env, timeout: limitMs, say, what: `apt-get ${args[0]}` });
  try {
    await apt('download', 'bubblewrap').catch(async () => {
      // The system has no list of packages, or an old one; a list of our own needs no root.
      const own = ownLists(folder);
      await apt('update', ...own);
      await apt('download', 'bubblewrap', ...own);
    });
    const file = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (file === undefined) throw new Error('apt-get download left no package');
    await run('dpkg-deb', ['-x', file, 'unpacked'], { cwd: folder, env, say, what: 'unpacking bubblewrap' });
    const program = join(folder, 'unpacked', 'usr', 'bin', 'bwrap');
    const version = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (version.status !== 0) throw new Error(`${program} does not run: ${version.error?.message ?? version.stderr}`);
    renameSync(program, cachedBubblewrap(env));
    return cachedBubblewrap(env);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ownLists = (folder) => {
  mkdirSync(join(folder, 'lists', 'partial'), { recursive: true });
  mkdirSync(join(folder, 'archives', 'partial'), { recursive: true });
  const options = {
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': folder,
    'Dir::Cache::archives': 'archives',
  };
  if (process.getuid?.() === 0) options['APT::Sandbox::User'] = 'root'; // the folder is root's alone
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
};
