// What `npm start` and `npm test` need, in order: a Node that fits, the dependencies, dist, a Temporal server, bubblewrap; with
// --test also the programs that only tests need. Node built-ins only: it runs in a fresh clone. What stands is left alone.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build, isBuilt, root } from './build.js';
import { canFetchBubblewrap, fetchBubblewrap } from './fetch-bubblewrap.js';
import { fetchServer } from './fetch-server.js';
import { findBubblewrap } from './find-bubblewrap.js';
import { cacheFolder, findServer, findServerProgram, onPath, waysToServer } from './find-server.js';

const forTests = process.argv.includes('--test');
const inCi = /^(1|true)$/i.test(process.env.CI ?? '');
const say = (line) => console.log(`prepare: ${line}`);
const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));

function checkNode() {
  const wanted = readJson('package.json').engines.node.replace('>=', '');
  const parts = (version) => version.split('.').map(Number);
  const [given, least] = [parts(process.versions.node), parts(wanted)];
  const differs = [0, 1, 2].find((index) => given[index] !== least[index]);
  if (differs !== undefined && given[differs] < least[differs]) {
    throw new Error(
      `Parley needs Node ${wanted} or later; this is ${process.versions.node}. Node 20, 22 and 24 are fine: https://nodejs.org`,
    );
  }
}

/** Whether what stands in node_modules is what the lockfile asks for; packages of other systems may be absent. */
function isInstalled() {
  const hidden = join('node_modules', '.package-lock.json');
  if (!existsSync(join(root, hidden))) return false;
  const installed = readJson(hidden).packages;
  return Object.entries(readJson('package-lock.json').packages).every(
    ([path, { version, optional, devOptional }]) =>
      path === '' || optional || devOptional || installed[path]?.version === version,
  );
}

function install() {
  if (isInstalled()) return;
  say('installing the dependencies with npm ci (about a minute; less when npm has them cached)');
  // Dev dependencies too, whatever NODE_ENV says: the compiler is one.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  const npm = process.env.npm_execpath ?? '';
  const [program, first] = /npm-cli\.[cm]?js$/.test(npm) ? [process.execPath, [npm]] : ['npm', []];
  const { status, error } = spawnSync(program, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...headersForCompiling() },
    shell: process.platform === 'win32' && program === 'npm',
  });
  if (status !== 0)
    throw new Error(
      `npm ci failed${error ? ` (${error.message})` : ''}; the lines above say why. Behind a proxy or a mirror, configure npm first.`,
    );
}

/** A package that compiles asks nodejs.org for Node's headers, which a Node installation usually has itself. */
function headersForCompiling() {
  const allowed = readJson('package.json').allowScripts ?? {};
  const compiles = Object.entries(readJson('package-lock.json').packages).some(
    ([path, { hasInstallScript }]) => hasInstallScript && allowed[path.split('node_modules/').pop()] === true,
  );
  const prefix = dirname(dirname(process.execPath));
  const has = existsSync(join(prefix, 'include', 'node', 'node_version.h'));
  return compiles && has && !process.env.npm_config_nodedir ? { npm_config_nodedir: prefix } : {};
}

async function buildIfStale() {
  if (isBuilt()) return;
  say('building (a few seconds)');
  await build();
}

async function obtainServer() {
  // Tests start servers of their own, so that nothing of theirs reaches a server in use.
  const find = () => (forTests ? findServerProgram() : findServer());
  if (find() !== null) return;
  await withLock(join(cacheFolder(), 'fetch.lock'), async () => {
    if (find() !== null) return; // another run was first
    const fetched = await fetchServer(say);
    if ('problems' in fetched)
      throw new Error([...fetched.problems.map((problem) => `- ${problem}`), '', waysToServer()].join('\n'));
    say(`the Temporal server is at ${fetched.executable}`);
  });
}

/** For commands in a sandbox. Everything else works without it, so that a failure is told and no more. */
async function obtainBubblewrap() {
  const isWanted = (process.env.PARLEY_SANDBOX_BACKENDS || 'bubblewrap').includes('bubblewrap');
  if (!isWanted || findBubblewrap() !== null || !canFetchBubblewrap()) return;
  await withLock(join(cacheFolder(), 'fetch.lock'), async () => {
    if (findBubblewrap() !== null) return; // another run was first
    say("getting bubblewrap for the sandbox: the system's package, unpacked (a few seconds)");
    try {
      say(`bubblewrap is at ${await fetchBubblewrap(say)}`);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  });
}

async function obtainTestParts() {
  const { parts } = await import('../test/support/parts.js');
  const isAbsent = ({ find }) => find() === null;
  const mayInstall = process.getuid?.() === 0 && onPath(['apt-get']) !== null;
  if (mayInstall) installParts(parts.filter((part) => part.apt && isAbsent(part)));
  for (const part of parts.filter(({ build }) => build)) await buildPart(part);
  const missing = parts.filter(isAbsent);
  for (const { name, for: use, apt, hint } of missing) {
    const way = hint ?? `On Debian or Ubuntu: sudo apt-get install -y ${apt.at(-1)}`;
    say(`${name} is missing: ${use} are skipped. ${way}`);
  }
  if (missing.length > 0 && inCi)
    throw new Error('With CI=true a missing part is a failure: no test may be skipped unseen.');
}

/** A build that fails is told; what it was for then counts as missing. */
async function buildPart({ name, find, build: buildIt }) {
  if (find() !== null) return;
  await withLock(join(cacheFolder(), `build-${name.toLowerCase()}.lock`), async () => {
    if (find() !== null) return; // another run was first
    try {
      await buildIt(say);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  });
}

function installParts(wanted) {
  if (wanted.length === 0) return;
  const apt = (...args) =>
    spawnSync('apt-get', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0;
  say('asking the package manager for its list (a few seconds)');
  apt('update');
  for (const { name, for: use, apt: packages, seconds } of wanted) {
    say(`installing ${name} for ${use} (apt-get install ${packages.join(' or ')}; about ${seconds} s)`);
    packages.some((each) => apt('install', '-y', '--no-install-recommends', each));
  }
}

/** One run at a time: a second one waits, and finds everything done. */
async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true });
  for (let told = false; ; ) {
    try {
      const file = openSync(path, 'wx');
      writeSync(file, `${process.pid}`);
      closeSync(file);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = holderOf(path);
    if (holder !== null && !isAlive(holder)) {
      rmSync(path, { force: true });
      continue;
    }
    if (!told)
      say(
        `another run is preparing (process ${holder ?? 'unknown'}); waiting for it. If there is none, remove ${path}`,
      );
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

const holderOf = (path) => {
  try {
    return Number(readFileSync(path, 'utf8')) || null; // empty for the moment between creation and writing
  } catch {
    return null; // released just now
  }
};

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

try {
  checkNode();
  const settings = join(root, '.env');
  if (existsSync(settings)) process.loadEnvFile(settings);
  const checkout = createHash('sha256').update(root).digest('hex').slice(0, 12);
  await withLock(join(tmpdir(), `parley-prepare-${checkout}.lock`), async () => {
    install();
    await buildIfStale();
  });
  await obtainServer();
  await obtainBubblewrap();
  if (forTests) await obtainTestParts();
} catch (error) {
  console.error(`\nprepare: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
