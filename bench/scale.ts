import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import type { FanOutStatus } from '../src/contracts/fan-out-status.js';
import type { SessionStatus } from '../src/contracts/session-status.js';
import { connectForWorker } from '../temporal/client.js';
import { findServerProgram, waysToServer } from '../temporal/find-server.js';
import { freePorts, startEmbeddedServer } from '../temporal/server.js';
import { round, table } from './measure.js';

/** What Temporal ends a run at, and what a process of the product may take: nothing here may come near. */
const limits = { events: 51_200, bytes: 50 * 1024 * 1024, mebibytes: 1_024 };
const frames = Number(process.argv[2] ?? 100_000);
const tasks = Number(process.argv[3] ?? 2_000);
const framesOfPost = 500;
/** The answers of one session may take 475 kB together. */
const piece = 'x';

interface Process {
  child: ChildProcess;
  name: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** One of the product's programs, on its own; settles once it says that it is up. */
const startProgram = async (
  name: string,
  program: string,
  environment: NodeJS.ProcessEnv,
  up: RegExp,
): Promise<Process> => {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, program)], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Read to the end: a full pipe would stop the program.
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => {
      if (up.test(line)) resolve();
      else if (/"level":(50|60)/.test(line)) console.error(`${name}: ${line}`);
    });
    child.once('exit', (code) => reject(new Error(`the ${name} ended with ${code} before it was up`)));
  });
  return { child, name };
};

/** Most resident memory so far, and now, in MiB. */
const memoryOf = ({ child }: Process): { now: number; most: number } => {
  const text = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const mebibytes = (field: string): number =>
    round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024, 0);
  return { now: mebibytes('VmRSS'), most: mebibytes('VmHWM') };
};

/** Every run of one piece of work, as Temporal's visibility has them. */
const runsOf = async (client: Client, id: string): Promise<{ events: number; bytes: number }[]> => {
  for (let tries = 0; tries < 100; tries += 1) {
    const runs = [];
    for await (const run of client.workflow.list({ query: `WorkflowId = '${id}'` })) runs.push(run);
    // Visibility comes after the fact; a run still has no length there.
    if (runs.length > 0 && runs.every(({ status }) => status.name !== 'RUNNING'))
      return runs.map(({ historyLength, historySize }) => ({ events: historyLength, bytes: Number(historySize ?? 0) }));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`the runs of ${id} did not come to an end`);
};

const call = async <T>(url: string, body?: unknown): Promise<T> => {
  const init =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, init);
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    // A machine at its limit says so, and is asked again, as anybody would.
    if (response.status !== 503 || body !== undefined || tries === 20)
      throw new Error(`${url} answered ${response.status}: ${text.slice(0, 2_000)}`);
  }
};

const ended = async <S extends { lifecycle: string }>(url: string): Promise<S> => {
  for (;;) {
    const status = await call<S>(url);
    if (status.lifecycle === 'completed') return status;
    if (status.lifecycle !== 'running') throw new Error(`not completed: ${JSON.stringify(status).slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
};

/** One session with a lane that is posted frame by frame, and one that plays as many by itself. */
const manyFrames = async (gateway: string): Promise<string> => {
  const started = await call<{ id: string; lane_keys: Record<string, string> }>(`${gateway}/v1/sessions`, {
    prompt: 'Say it often.',
    lanes: [
      { lane_id: 'posted', adapter: { kind: 'external' } },
      {
        lane_id: 'played',
        adapter: { kind: 'scripted', script: [{ partial: piece, repeat: frames }, { final: 'blue' }] },
      },
    ],
    policy: { early_exit: { enabled: false }, deadline_ms: 3_600_000 },
  });
  const key = started.lane_keys['posted'] ?? '';
  const url = `${gateway}/v1/sessions/${started.id}`;
  for (let from = 1; from <= frames; from += framesOfPost) {
    const count = Math.min(framesOfPost, frames - from + 1);
    const batch = Array.from({ length: count }, (_, index) => ({
      type: 'partial',
      msg_seq: from + index,
      text: piece,
    }));
    const last = from + count > frames ? [{ type: 'final', msg_seq: frames + 1, text: 'blue' }] : [];
    for (const some of [batch, last].filter(({ length }) => length > 0)) {
      const response = await fetch(`${url}/lanes/posted/frames`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ frames: some }),
      });
      if (response.ok) continue;
      const { error } = await call<SessionStatus>(url);
      throw new Error(`frames from ${from} answered ${response.status}; the session says ${JSON.stringify(error)}`);
    }
  }
  const status = await ended<SessionStatus>(url);
  const states = status.lanes.map(({ lane_id: id, state, lost }) => `${id} ${state}, ${lost} lost`).join('; ');
  if (states !== 'posted FINALIZED, 0 lost; played FINALIZED, 0 lost') throw new Error(`the lanes ended as ${states}`);
  return started.id;
};

/** One fan-out of many tasks, each with an answer of its own. */
const manyTasks = async (gateway: string): Promise<string> => {
  const { id } = await call<{ id: string }>(`${gateway}/v1/fan-outs`, {
    agents: [{ agent_id: 'a' }],
    fan_out: {
      strategy: 'round_robin',
      tasks: Array.from({ length: tasks }, (_, index) => ({
        task_id: `t${index}`,
        input_artifacts: [],
        adapter: { kind: 'scripted', script: [{ final: { [`k${index}`]: 'x'.repeat(200) } }] },
      })),
    },
    barrier: { timeout_ms: 3_600_000 },
    fan_in: { aggregation_strategy: 'merge' },
  });
  const { result } = await ended<FanOutStatus>(`${gateway}/v1/fan-outs/${id}`);
  if (result?.completed.length !== tasks) throw new Error(`${result?.completed.length} of ${tasks} tasks completed`);
  return id;
};

/** Sessions and fan-outs far beyond what one run of a workflow may hold, against gateway and worker as processes of their own. */
const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-scale-'));
  const program = findServerProgram();
  if (program === null) throw new Error(waysToServer());
  const server = await startEmbeddedServer({
    executable: program.executable,
    uiPort: null,
    databaseFile: join(folder, 'temporal.db'),
  });
  const [port] = (await freePorts(1)) as [number];
  const environment = {
    ...process.env,
    PARLEY_DATA: join(folder, 'data'),
    PORT: `${port}`,
    TEMPORAL_ADDRESS: server.address,
    PARLEY_RATE_LIMIT: '1000000',
    LOG_LEVEL: 'info',
  };
  const processes: Process[] = [];
  try {
    processes.push(await startProgram('worker', 'dist/temporal/worker-main.js', environment, /the worker is running/));
    processes.push(await startProgram('gateway', 'dist/src/server.js', environment, /gateway listens/));
    const { connection, client } = await connectForWorker({ address: server.address, namespace: 'default' });
    const rows: Record<string, string | number>[] = [];
    const works: [string, (gateway: string) => Promise<string>][] = [
      [`session of two lanes of ${frames} frames`, manyFrames],
      [`fan-out of ${tasks} tasks`, manyTasks],
    ];
    for (const [what, work] of works) {
      const begin = performance.now();
      const id = await work(`http://127.0.0.1:${port}`);
      const seconds = round((performance.now() - begin) / 1000);
      const runs = await runsOf(client, id);
      const largest = {
        events: Math.max(...runs.map(({ events }) => events)),
        bytes: Math.max(...runs.map(({ bytes }) => bytes)),
      };
      const memory = processes.map((each) => [each.name, memoryOf(each)] as const);
      rows.push({
        what,
        seconds,
        runs: runs.length,
        'events of the largest': largest.events,
        'kB of the largest': round(largest.bytes / 1000, 0),
        ...Object.fromEntries(memory.map(([name, { now, most }]) => [`${name} MiB (most)`, `${now} (${most})`])),
      });
      if (largest.events >= limits.events || largest.bytes >= limits.bytes)
        throw new Error(
          `${what}: a run of ${largest.events} events and ${largest.bytes} bytes is beyond Temporal's limits`,
        );
      const tooLarge = memory.find(([, { most }]) => most >= limits.mebibytes);
      if (tooLarge) throw new Error(`${what}: the ${tooLarge[0]} took ${tooLarge[1].most} MiB of memory`);
    }
    console.log(`\n${table(rows)}\n`);
    console.log(
      'A run continues as new once the server suggests it: by default from 4,096 events or 4 MB on. Temporal ends one at 51,200 events or 50 MB.\n',
    );
    await connection.close();
  } finally {
    for (const { child } of processes) {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

await main();
