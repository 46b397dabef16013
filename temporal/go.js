// Programs that are built from Go source where no binary of them is to be had.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isProgram, onPath } from './find-server.js';

const progressEveryMs = 15_000;

/** @returns the path of Go, or null */
export const findGo = (env = process.env) =>
  onPath(['go', 'go.exe'], env) ?? ['/usr/local/go/bin/go', '/opt/homebrew/bin/go'].find(isProgram) ?? null;

/** Runs Go. @param options.folder for what it fetches and compiles, where the user has no Go of their own */
export async function runGo(args, { folder, cwd, env, say, what }) {
  const home = env.HOME || homedir();
  // Who uses Go has a module cache: use it. For others nothing shall stay behind but the program.
  const hasCache = Boolean(env.GOPATH || env.GOMODCACHE) || existsSync(join(home, 'go', 'pkg', 'mod'));
  const caches = hasCache
    ? {}
    : {
        GOPATH: join(folder, 'go'),
        GOCACHE: env.GOCACHE ?? join(folder, 'build'),
        GOFLAGS: `${env.GOFLAGS ?? ''} -modcacherw`.trim(),
      };
  await run(findGo(env), args, { env: { HOME: home, ...env, ...caches }, cwd, say, what });
}

/** Runs a program quietly, with a line every 15 s; its last words are the error's message. */
export async function run(program, args, { env, cwd, timeout, say, what }) {
  const began = Date.now();
  const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout, killSignal: 'SIGKILL' });
  let tail = '';
  const keep = (chunk) => {
    tail = (tail + chunk).slice(-1_500);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const seconds = () => Math.round((Date.now() - began) / 1_000);
  const progress = setInterval(() => say(`  ${what} goes on (${seconds()} s)`), progressEveryMs);
  try {
    const end = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code === 0 ? null : (code ?? signal)));
    });
    if (end !== null)
      throw new Error(`${what} failed after ${seconds()} s (${end}): ${tail.trim() || 'it said nothing'}`);
  } finally {
    clearInterval(progress);
  }
}
