import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Running {
  child: ChildProcess;
  url: string;
  ended: Promise<unknown[]>;
}

export interface Called {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * What `npm start -- --no-sample` runs, as a process of its own on a data folder that outlives it: from the build that the
 * tests' preparing step made. `remove` ends what still runs.
 */
export const makeInstallation = (more: Record<string, string> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-installation-'));
  const environment = {
    ...process.env,
    PARLEY_DATA: folder,
    PORT: '0',
    TEMPORAL_PORT: '0',
    TEMPORAL_UI_PORT: '0',
    TEMPORAL_ADDRESS: '',
    TEMPORAL_CLI: process.env['TEST_TEMPORAL_CLI'] ?? '',
    ...more,
  };
  const children: ChildProcess[] = [];

  const start = async (): Promise<Running> => {
    const child = spawn(process.execPath, ['dist/src/start.js', '--no-sample'], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    const ended = once(child, 'exit');
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    for await (const line of createInterface({ input: child.stdout })) {
      said += `${line}\n`;
      const url = /Page\s+(http:\S+)/.exec(line)?.[1];
      if (url) return { child, url, ended };
    }
    throw new Error(`npm start ended before it was up:\n${said}`);
  };
  const kill = async ({ child, ended }: Running): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const remove = (): void => {
    for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  return { start, kill, remove, folder };
};

export const call = async (url: string, path: string, body?: unknown): Promise<Called> => {
  const response = await fetch(
    url + path,
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** Polls a status until it holds. */
export const until = async <S>(url: string, path: string, holds: (status: S) => boolean): Promise<S> => {
  let last = '';
  const deadline = Date.now() + 120_000;
  // Each look is a query of a workflow: who waits for long looks less often.
  for (let pauseMs = 25; Date.now() < deadline; pauseMs = Math.min(150, pauseMs * 1.6)) {
    const answer = await call(url, path);
    last = answer.text;
    if (answer.status === 200 && holds(JSON.parse(last) as S)) return JSON.parse(last) as S;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(`not reached: ${last}`);
};
