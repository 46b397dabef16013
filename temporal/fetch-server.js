// Gets the Temporal server into the user's cache folder: the SDK's own download, else a build from Go source.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedServer, cacheFolder } from './find-server.js';
import { findGo, run, runGo } from './go.js';

/** The newest version that `go install` can build: later ones have replace lines in their module. */
const goPackage = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const downloadLimitMs = 90_000;

/**
 * @param {(line: string) => void} say
 * @returns {Promise<{executable: string} | {problems: string[]}>}
 */
export async function fetchServer(say, env = process.env) {
  mkdirSync(join(cacheFolder(env), 'bin'), { recursive: true });
  const problems = [];
  for (const way of [download, goInstall]) {
    // In the cache folder, so that the rename at the end stays within one file system.
    const folder = mkdtempSync(join(cacheFolder(env), 'fetch-'));
    try {
      const program = await way(folder, say, env);
      const version = spawnSync(program, ['--version'], { encoding: 'utf8' });
      if (version.status !== 0) throw new Error(`${program} does not run: ${version.error?.message ?? version.stderr}`);
      renameSync(program, cachedServer(env));
      return { executable: cachedServer(env) };
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return { problems };
}

async function download(folder, say, env) {
  say('getting the Temporal server: the SDK downloads it (about 60 MB; usually under a minute)');
  const script = fileURLToPath(new URL('./download-server.js', import.meta.url));
  await run(process.execPath, [script, folder], { env, timeout: downloadLimitMs, say, what: 'the download' });
  const program = readdirSync(folder)
    .map((name) => join(folder, name))
    .find((path) => statSync(path).isFile());
  if (program === undefined) throw new Error('the download left no file');
  chmodSync(program, 0o755);
  return program;
}

async function goInstall(folder, say, env) {
  if (findGo(env) === null) throw new Error('Go is not on PATH, so the server cannot be built from source');
  say('getting the Temporal server: building it from Go source (once; about 2 minutes, longer on a busy machine)');
  const bin = join(folder, 'bin');
  await runGo(['install', goPackage], { folder, env: { ...env, GOBIN: bin }, say, what: 'the build' });
  return join(bin, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
}
