import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SessionStatus } from '../../src/contracts/session.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-restart-'));
const environment = {
  ...process.env,
  PARLEY_DATA: folder,
  PORT: '0',
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
  TEMPORAL_ADDRESS: '',
  TEMPORAL_CLI: process.env['TEST_TEMPORAL_CLI'] ?? '',
};
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Running {
  child: ChildProcess;
  url: string;
  ended: Promise<unknown[]>;
}

/** What `npm start -- --no-sample` runs, from the build that the tests' preparing step made. */
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

const call = async (
  url: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; headers: Headers; text: string }> => {
  const response = await fetch(
    url + path,
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );
  return { status: response.status, headers: response.headers, text: await response.text() };
};
const status = async (url: string, id: string): Promise<SessionStatus> =>
  JSON.parse((await call(url, `/v1/sessions/${id}`)).text) as SessionStatus;
const until = async (url: string, id: string, holds: (status: SessionStatus) => boolean): Promise<SessionStatus> => {
  for (let tries = 0; tries < 600; tries += 1) {
    const now = await status(url, id);
    if (holds(now)) return now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not reached: ${JSON.stringify(await status(url, id))}`);
};

const scripted = (lane_id: string, ...script: object[]) => ({ lane_id, adapter: { kind: 'scripted', script } });
const quick = { id: 'quick', prompt: 'Which?', lanes: [scripted('a', { final: 'blue' })] };
const underWay = {
  id: 'under-way',
  prompt: 'Which?',
  policy: { deadline_ms: 120_000, early_exit: { enabled: false } },
  lanes: [
    scripted('fast', { after_ms: 50, final: 'blue' }),
    scripted('slow', { after_ms: 100, partial: 'bl' }, { after_ms: 3_000, partial: 'ue' }, { final: 'blue' }),
  ],
};

describe('when everything is killed in the middle of a session', () => {
  let before: { quickEvents: string };
  let second: Running;

  beforeAll(async () => {
    const first = await start();
    await call(first.url, '/v1/sessions?wait=30', quick);
    before = { quickEvents: (await call(first.url, '/v1/sessions/quick/events')).text };
    await call(first.url, '/v1/sessions', underWay);
    await until(
      first.url,
      'under-way',
      ({ lanes }) => lanes[0]!.state === 'FINALIZED' && lanes[1]!.state === 'STREAMING',
    );
    first.child.kill('SIGKILL');
    await first.ended;
    second = await start();
  }, 120_000);

  test('it finishes after the restart, and only the lane that had not ended is called again', async () => {
    const ended = await until(second.url, 'under-way', ({ lifecycle }) => lifecycle === 'completed');
    expect(ended.lanes.map(({ lane_id, attempt, answer }) => ({ lane_id, attempt, answer }))).toEqual([
      { lane_id: 'fast', attempt: 1, answer: 'blue' },
      { lane_id: 'slow', attempt: 2, answer: 'blue' },
    ]);
    expect(ended.result).toMatchObject({ answer: 'blue', agreement: 1, ended_by: 'all_final' });
  }, 60_000);

  test('a session that had ended keeps its status, its idempotency and its numbered events', async () => {
    expect(await status(second.url, 'quick')).toMatchObject({ state: 'COMPLETE', result: { answer: 'blue' } });
    const again = await call(second.url, '/v1/sessions', quick);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    const other = await call(second.url, '/v1/sessions', { ...quick, prompt: 'Another?' });
    expect(other.status).toBe(409);
    expect((await call(second.url, '/v1/sessions/quick/events')).text).toBe(before.quickEvents);
  });

  test('a drain at the end stops it without an error', async () => {
    second.child.kill('SIGTERM');
    expect(await second.ended).toEqual([0, null]);
  }, 60_000);
});
