// Programs that only tests need. Plain JavaScript: `temporal/prepare.js --test` asks before anything is built.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBubblewrap } from '../../temporal/find-bubblewrap.js';
import { cacheFolder, isProgram, onPath } from '../../temporal/find-server.js';
import { findGo, runGo } from '../../temporal/go.js';

/**
 * A browser for the page's tests: CHROME_PATH, else PATH, else where macOS keeps it. The one without windows comes first: a
 * page costs it a third of what it costs the whole browser.
 */
export const findChromium = (env = process.env) => {
  if (env.CHROME_PATH && isProgram(env.CHROME_PATH)) return env.CHROME_PATH;
  const onMac = ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  return (
    onPath(['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'], env) ??
    onMac.find(isProgram) ??
    null
  );
};

/** PostgreSQL's programs: on PATH, or where Debian puts them. */
export const findPostgres = (env = process.env) => {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, two) => Number(two) - Number(one)) : [];
  const find = (name) =>
    onPath([name], env) ??
    versions.map((version) => join(debian, version, 'bin', name)).find((path) => isProgram(path)) ??
    null;
  const [initdb, postgres] = [find('initdb'), find('postgres')];
  return initdb !== null && postgres !== null ? { initdb, postgres } : null;
};

/** A program that is built here from Go, once for each state of its sources. `name` is its folder's, too. */
const goProgram = (name, what) => {
  const source = fileURLToPath(new URL(`./${name}/`, import.meta.url));
  const pathIn = (env) => {
    const hash = createHash('sha256');
    for (const file of ['main.go', 'go.sum']) hash.update(readFileSync(join(source, file)));
    return join(cacheFolder(env), 'bin', `${name}-${hash.digest('hex').slice(0, 12)}`);
  };
  const build = async (say, env = process.env) => {
    if (findGo(env) === null) return;
    say(`building ${what} (once; about 2 minutes, longer on a busy machine)`);
    mkdirSync(join(cacheFolder(env), 'bin'), { recursive: true });
    const folder = mkdtempSync(join(cacheFolder(env), 'build-'));
    try {
      const output = join(folder, name);
      const args = ['build', '-mod=readonly', '-trimpath', '-o', output, '.'];
      await runGo(args, { folder, cwd: source, env, say, what: 'the build' });
      renameSync(output, pathIn(env));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  return { find: (env = process.env) => (isProgram(pathIn(env)) ? pathIn(env) : null), build };
};

/** A server that speaks MongoDB's protocol: no system package has one, and MongoDB's own has no sources to build at hand. */
const ferretDb = goProgram('ferretdb', 'FerretDB for the tests of memory in MongoDB');
export const findFerretDb = ferretDb.find;

/** A server that speaks S3's protocol, on files. */
const s3Server = goProgram('s3-server', 'an S3 server for the tests of artifacts in a bucket');
export const findS3Server = s3Server.find;

/** Bubblewrap where it works: a kernel or a container may keep namespaces from it. */
export const findSandbox = (env = process.env) => {
  const program = findBubblewrap(env);
  if (program === null) return null;
  const { status } = spawnSync(program, ['--unshare-all', '--unshare-user', '--ro-bind', '/', '/', 'true']);
  return status === 0 ? program : null;
};

/**
 * What `prepare.js --test` looks for, and gets where it can: as root on Debian or Ubuntu through apt, the first of its packages
 * that there is, or by a build of its own into the cache folder. `hint` says how a person gets it.
 */
export const parts = [
  {
    name: 'bubblewrap',
    for: 'the tests of commands in a sandbox',
    find: findSandbox,
    apt: ['bubblewrap'],
    seconds: 10,
    hint: 'Install it (Debian or Ubuntu: sudo apt-get install -y bubblewrap); where it is there, the system keeps namespaces from it: node bin/parley.js doctor says more',
  },
  {
    name: 'Chromium',
    for: 'the tests of the operator page',
    find: findChromium,
    apt: ['chromium-headless-shell', 'chromium'],
    seconds: 90,
  },
  {
    name: 'PostgreSQL',
    for: 'the tests of the bus between processes',
    find: findPostgres,
    apt: ['postgresql'],
    seconds: 30,
  },
  {
    name: 'FerretDB',
    for: 'the tests of memory in MongoDB',
    find: findFerretDb,
    build: ferretDb.build,
    hint: 'Install Go 1.22 or later (https://go.dev/dl) and run npm run pretest, which builds it',
  },
  {
    name: 'S3 server',
    for: 'the tests of artifacts in a bucket',
    find: findS3Server,
    build: s3Server.build,
    hint: 'Install Go 1.25 or later (https://go.dev/dl) and run npm run pretest, which builds it',
  },
];
