import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mostAtOnce, mostInAnyWindow } from '../../bench/limits/arrivals.js';
import type { Demand } from '../../bench/limits/worker.js';
import { freePorts, startEmbeddedServer } from '../../temporal/server.js';
import {
  bundlePath,
  countOf,
  type Governed,
  type GovernedRig,
  provider,
  startGovernedRig,
} from '../support/governed-rig.js';
import { startCuttableProxy } from '../support/cuttable-proxy.js';

const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
let rig: GovernedRig;
const children: ChildProcess[] = [];
beforeAll(async () => {
  rig = await startGovernedRig(address);
});
afterEach(() => rig?.uninstall());
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rig?.close();
});

/** A worker of the same installation in a process of its own, whose calls take longer than any test. */
const startProcess = async ({ taskQueue, limits }: Governed, backlog: number): Promise<ChildProcess> => {
  const demand: Demand = {
    ...{ address, taskQueue, limits, bundlePath, provider, url: rig.model.url, backlog, seed: 1 },
    ...{ tenants: ['gone'], tokens: [10, 10], ms: [600_000, 600_000], maxTokens: 64 },
  };
  const child = spawn(process.execPath, ['dist/bench/limits/worker.js', JSON.stringify(demand)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout!, 'data');
  return child;
};

describe('the limits of a provider hold', () => {
  test('where a worker is killed with calls in hand: they count until their lease ends, and what it wanted is forgotten', async () => {
    const limits = { requests: 100, concurrency: 3, window_ms: 1_000 };
    const governed = await rig.install(1, limits);
    const child = await startProcess(governed, 5);
    await governed.until((status) => countOf(status, 'under_way') === 3 && countOf(status, 'waiting') === 2);
    const waiting = [governed.call(0), governed.call(0), governed.call(0)];
    await governed.until((status) => countOf(status, 'waiting') === 5);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await Promise.all(waiting)).toEqual(['final', 'final', 'final']);
    const arrivals = governed.arrivals();
    expect(arrivals.map(({ tenant }) => tenant)).toEqual([...Array(3).fill('gone'), ...Array(3).fill('a')]);
    expect(mostAtOnce(arrivals)).toBe(3);
    await governed.until((status) => countOf(status, 'under_way') + countOf(status, 'waiting') === 0);
  });

  test('where connections break: what is lost on the way is said again', async () => {
    const proxy = await startCuttableProxy(`http://${address}`);
    try {
      const limits = { requests: 8, concurrency: 2, window_ms: 1_500, burst: 1 };
      const { call, arrivals, until } = await rig.install(2, limits, new URL(proxy.url).host);
      const calls = Array.from({ length: 16 }, (_, index) => call(index % 2, { ms: 60 }));
      for (const left of [12, 8, 4]) {
        await until((status) => countOf(status, 'waiting') <= left);
        proxy.cut();
      }
      expect(await Promise.all(calls)).toEqual(Array(16).fill('final'));
      expect(arrivals()).toHaveLength(16);
      expect(mostAtOnce(arrivals())).toBeLessThanOrEqual(2);
      expect(mostInAnyWindow(arrivals(), limits.window_ms).requests).toBeLessThanOrEqual(8);
      await until((status) => countOf(status, 'under_way') + countOf(status, 'waiting') === 0);
    } finally {
      await rig.uninstall();
      await proxy.close();
    }
  });

  test('over the end of a history: the next run knows what waits and what is under way', async () => {
    const limits = { requests: 6, concurrency: 2, window_ms: 2_000, burst: 1 };
    const { call, arrivals, until, id } = await rig.install(2, limits);
    const handle = rig.client.workflow.getHandle(id);
    const calls = Array.from({ length: 4 }, (_, index) => call(index % 2, { ms: 20 }));
    await until((status) => countOf(status, 'under_way') + countOf(status, 'waiting') > 0);
    const { runId } = await handle.describe();
    const noise = { worker: 'noise', events: [{ type: 'withdrawn', id: 'nobody' }] };
    while ((await handle.describe()).runId === runId)
      await Promise.all([1, 2, 3].map(() => handle.executeUpdate('said', { args: [noise] })));
    calls.push(call(0), call(1));
    expect(await Promise.all(calls)).toEqual(Array(calls.length).fill('final'));
    expect(mostAtOnce(arrivals())).toBeLessThanOrEqual(2);
    expect(mostInAnyWindow(arrivals(), limits.window_ms).requests).toBeLessThanOrEqual(6);
    await until((status) => countOf(status, 'under_way') + countOf(status, 'waiting') === 0);
  });

  test('by messages of workers alone: what is none of them changes nothing', async () => {
    const { call, id } = await rig.install(1, {});
    expect(await call(0)).toBe('final');
    const handle = rig.client.workflow.getHandle(id);
    for (const said of [null, 'wanted', {}, { worker: 'w', events: [{ type: 'wanted' }] }, { worker: 'w', events: {} }])
      await handle.executeUpdate('said', { args: [said] });
    expect(await call(0)).toBe('final');
  });

  test('over a restart of the server: who waited goes on waiting, and goes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-governor-'));
    const [port] = await freePorts(1);
    const options = {
      ...{ executable: process.env['TEST_TEMPORAL_CLI'] ?? 'temporal', uiPort: null, port: port! },
      databaseFile: join(folder, 'temporal.db'),
    };
    let server = await startEmbeddedServer(options);
    const own = await startGovernedRig(server.address);
    try {
      const limits = { requests: 4, concurrency: 2, window_ms: 1_500, burst: 1 };
      const { call, arrivals, until } = await own.install(2, limits);
      const calls = Array.from({ length: 10 }, (_, index) => call(index % 2, { ms: 30 }));
      await until((status) => countOf(status, 'waiting') <= 6);
      await server.stop();
      server = await startEmbeddedServer(options);
      expect(await Promise.all(calls)).toEqual(Array(10).fill('final'));
      expect(mostInAnyWindow(arrivals(), limits.window_ms).requests).toBeLessThanOrEqual(4);
      expect(arrivals()).toHaveLength(10);
    } finally {
      await own.uninstall();
      await own.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
