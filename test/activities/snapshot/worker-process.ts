import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { transformSync } from '@swc/core';
import type { SnapshotPort } from '../../../activities/snapshot/port.js';
import { importsOf } from '../../support/sources.js';

/** Answers calls of a SnapshotPort that come as lines; dies at the n-th call to the file system when CRASH_AT says so. */
const script = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { createInterface } from 'node:readline';
let left = Number(process.env.CRASH_AT ?? 0);
for (const name of ['openSync', 'renameSync', 'unlinkSync', 'rmdirSync', 'mkdirSync', 'symlinkSync', 'linkSync', 'writeSync', 'chmodSync',
  'lchownSync', 'lutimesSync', 'fchmodSync', 'futimesSync']) {
  const original = fs[name];
  fs[name] = (...given) => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
    return original(...given);
  };
}
syncBuiltinESMExports();
const { createSnapshots } = await import('./activities/snapshot/index.js');
const snapshots = createSnapshots(process.env.DATA);
for await (const line of createInterface({ input: process.stdin })) {
  const { method, given } = JSON.parse(line);
  const signal = method === 'remove' ? [] : [new AbortController().signal];
  try {
    console.log(JSON.stringify({ result: await snapshots[method](...given, ...signal) }));
  } catch (error) {
    console.log(JSON.stringify({ error: { message: error.message, code: error.code } }));
  }
}
`;

export interface WorkerProcess {
  call: <M extends keyof SnapshotPort>(method: M, ...given: string[]) => Promise<Awaited<ReturnType<SnapshotPort[M]>>>;
  /** Settles when the process is gone. */
  ended: Promise<string | null>;
  stop: () => Promise<void>;
}

/** A SnapshotPort in a process of its own, as any user, that can be made to crash. */
export const startWorker = (data: string, user?: number, crashAt = 0): WorkerProcess => {
  const ids = user === undefined ? {} : { uid: user, gid: user };
  const folder = built();
  const child: ChildProcess = spawn(nodeFor(folder, user), ['main.js'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], DATA: data, CRASH_AT: String(crashAt) },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...ids,
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const ended = once(child, 'exit').then(([, signal]) => signal as string | null);
  child.stdin!.on('error', () => {}); // a crashed process reads no more
  return {
    call: async (method, ...given) => {
      child.stdin!.write(`${JSON.stringify({ method, given })}\n`);
      const line = await lines.next();
      if (line.done) throw new Error(`the worker ended (${await ended})`);
      const { result, error } = JSON.parse(line.value) as { result: never; error?: { message: string; code: string } };
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
    ended,
    stop: async () => {
      child.stdin!.end();
      await ended;
    },
  };
};

let compiled: string | null = null;
const children = new Set<ChildProcess>();

/** The sources of snapshots as JavaScript, in a folder that every user can read. */
const built = (): string => {
  if (compiled !== null) return compiled;
  compiled = mkdtempSync(join(tmpdir(), 'parley-built-'));
  chmodSync(compiled, 0o755);
  const write = (file: string): void => {
    const target = join(compiled!, file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, transformSync(readFileSync(file, 'utf8'), { filename: file }).code);
    for (const { target: next, isType } of importsOf(file)) if (!isType && next.endsWith('.ts')) write(next);
  };
  write('activities/snapshot/index.ts');
  writeFileSync(join(compiled, 'package.json'), '{"type":"module"}');
  writeFileSync(join(compiled, 'main.js'), script);
  return compiled;
};

/** Node may be installed where only its owner can reach it. */
const nodeFor = (folder: string, user: number | undefined): string => {
  if (user === undefined || spawnSync(process.execPath, ['-v'], { uid: user, gid: user }).status === 0)
    return process.execPath;
  const copy = join(folder, 'node');
  copyFileSync(process.execPath, copy);
  chmodSync(copy, 0o755);
  return copy;
};

/** Ends what a failed test has left running, too. */
export const removeBuilt = (): void => {
  for (const child of children) child.kill('SIGKILL');
  if (compiled !== null) rmSync(compiled, { recursive: true });
  compiled = null;
};
