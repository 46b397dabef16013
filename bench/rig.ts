import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { startApp, type App } from '../src/app-host.js';
import { loadConfig } from '../src/config.js';
import { connectForWorker } from '../temporal/client.js';
import { createParleyWorker } from '../temporal/worker.js';

/** What a piece of work leaves in Temporal's history. */
export interface Footprint {
  events: number;
  bytes: number;
}

/** Seconds of processor time so far. */
export interface Cpu {
  /** Of this process: gateway, worker and bench. */
  parley: number;
  /** Of the Temporal server that this process started; NaN: it started none. */
  temporal: number;
}

export interface Rig {
  app: App;
  client: Client;
  /** A folder of its own, removed at the end. */
  folder: string;
  /** Runs a plain Temporal workflow of `bare-workflow.ts` to its end. @returns its id */
  runBare(workflow: string, ...args: unknown[]): Promise<string>;
  /** Starts a plain Temporal workflow that waits for somebody. */
  startBare(workflow: string, id: string): Promise<void>;
  /** Starts work over HTTP and waits for its end. @returns its status @throws when it is not completed */
  run<S extends { id: string; lifecycle?: string }>(path: string, body: unknown): Promise<S>;
  footprint(id: string): Promise<Footprint>;
  /** Resident memory of this process, in MiB: gateway, worker and bench. */
  resident(): number;
  cpu(): Cpu;
  stop(): Promise<void>;
}

const taskQueue = 'bare';

/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100;

/** The process of the Temporal server that listens at an address; null: it is none of this machine's that can be seen. */
const temporalAt = (address: string): string | null => {
  const port = address.slice(address.lastIndexOf(':') + 1);
  const isMeant = (pid: string): boolean => {
    try {
      const [program = '', ...rest] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return program.endsWith('temporal') && rest[rest.indexOf('--port') + 1] === port;
    } catch {
      return false; // it has ended meanwhile
    }
  };
  return readdirSync('/proc').find((name) => /^\d+$/.test(name) && isMeant(name)) ?? null;
};

const cpuOf = (pid: string): number => {
  // What the program is called stands in brackets before the numbers; user and system time are the 12th and 13th after it.
  const numbers = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return (Number(numbers[11]) + Number(numbers[12])) / ticksPerSecond;
};

/** The product, and beside it a plain Temporal worker: same server, same process, same worker settings. */
export const startRig = async (more: NodeJS.ProcessEnv = {}): Promise<Rig> => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const environment = {
    ...process.env,
    PARLEY_DATA: join(folder, 'data'),
    PORT: '0',
    TEMPORAL_PORT: '0',
    TEMPORAL_UI_PORT: '0',
    PARLEY_RATE_LIMIT: '1000000',
    ...more,
  };
  const app = await startApp({ config: loadConfig(environment), environment, logger: pino({ level: 'error' }) });
  const { connection, client } = await connectForWorker({ address: app.temporalAddress, namespace: 'default' });
  const workflowsPath = fileURLToPath(new URL('./bare-workflow.js', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const bundlePath = join(folder, 'bare.cjs');
  writeFileSync(bundlePath, code);
  const activities = { wait: (ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve('blue'), ms)) };
  const worker = await createParleyWorker({ connection, namespace: 'default', taskQueue, activities, bundlePath });
  const running = worker.run();
  const temporalPid = temporalAt(app.temporalAddress);
  let number = 0;
  return {
    app,
    client,
    folder,
    runBare: async (workflow, ...args) => {
      const workflowId = `bare-${(number += 1)}`;
      const options = { taskQueue, workflowId, args, requestEagerStart: true, workflowTaskTimeout: '2s' as const };
      await client.workflow.execute(workflow, options);
      return workflowId;
    },
    startBare: async (workflow, workflowId) => {
      await client.workflow.start(workflow, {
        taskQueue,
        workflowId,
        requestEagerStart: true,
        workflowTaskTimeout: '2s' as const,
      });
    },
    run: async <S extends { id: string; lifecycle?: string }>(path: string, body: unknown) => {
      const response = await fetch(`${app.gatewayUrl}${path}?wait=60`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const status = (await response.json()) as S;
      if (status.lifecycle !== 'completed') throw new Error(`not completed: ${JSON.stringify(status)}`);
      return status;
    },
    footprint: async (id) => {
      const description = await client.workflow.getHandle(id).describe();
      return { events: Number(description.historyLength), bytes: Number(description.historySize) };
    },
    resident: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${process.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    cpu: () => {
      const { user, system } = process.cpuUsage();
      return { parley: (user + system) / 1e6, temporal: temporalPid === null ? NaN : cpuOf(temporalPid) };
    },
    stop: async () => {
      worker.shutdown();
      await running;
      await connection.close();
      await app.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
