import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { startApp } from '../src/app-host.js';
import { loadConfig } from '../src/config.js';
import { connectForWorker } from '../temporal/client.js';
import { createParleyWorker } from '../temporal/worker.js';
import { measure, percentile, round, table, type Sample } from './measure.js';

const lanes = 5;
const laneMs = 20;
const taskQueue = 'bare';

/**
 * Sessions of five lanes of 20 ms beside a bare Temporal workflow of five activities of 20 ms: same server, same process,
 * same worker settings, in turns. Prints rates, latencies, the ratio, and what each leaves in Temporal's history.
 */
export const sessions = async (): Promise<void> => {
  const data = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const environment = {
    ...process.env,
    PARLEY_DATA: data,
    PORT: '0',
    TEMPORAL_PORT: '0',
    TEMPORAL_UI_PORT: '0',
    PARLEY_RATE_LIMIT: '1000000',
  };
  const logger = pino({ level: 'error' });
  const app = await startApp({ config: loadConfig(environment), environment, logger });
  const { connection, client } = await connectForWorker({ address: app.temporalAddress, namespace: 'default' });
  const workflowsPath = fileURLToPath(new URL('./bare-workflow.js', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const bundlePath = join(data, 'bare.cjs');
  writeFileSync(bundlePath, code);
  const activities = { wait: (ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve('blue'), ms)) };
  const worker: Worker = await createParleyWorker({
    connection,
    namespace: 'default',
    taskQueue,
    activities,
    bundlePath,
  });
  const running = worker.run();

  let number = 0;
  const runBare = async (): Promise<string> => {
    const workflowId = `bare-${(number += 1)}`;
    await client.workflow.execute('bare', {
      taskQueue,
      workflowId,
      args: [lanes, laneMs],
      requestEagerStart: true,
      workflowTaskTimeout: '2s',
    });
    return workflowId;
  };
  const script = [{ after_ms: laneMs, final: 'blue' }];
  const plain = {
    prompt: 'Which colour?',
    lanes: Array.from({ length: lanes }, (_, index) => ({
      lane_id: `l${index}`,
      adapter: { kind: 'scripted', script },
    })),
  };
  const runSession = async (body: unknown = plain): Promise<string> => {
    const response = await fetch(`${app.gatewayUrl}/v1/sessions?wait=60`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const status = (await response.json()) as { id: string; state?: string };
    if (status.state !== 'COMPLETE') throw new Error(`not complete: ${JSON.stringify(status)}`);
    return status.id;
  };
  const history = async (id: string): Promise<{ events: number; bytes: number }> => {
    const description = await client.workflow.getHandle(id).describe();
    return { events: Number(description.historyLength), bytes: Number(description.historySize) };
  };
  const resident = (): number => {
    const pids = [process.pid];
    return pids.reduce(
      (sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
      0,
    );
  };

  await measure(40, 10, () => runBare());
  await measure(40, 10, () => runSession());
  const rows: Record<string, string | number>[] = [];
  for (const [concurrency, count] of [
    [1, 40],
    [10, 200],
    [50, 400],
  ] as const) {
    const bare: Sample = { times: [], total: 0 };
    const session: Sample = { times: [], total: 0 };
    // In turns, so that a machine that slows down slows both.
    for (let round = 0; round < 4; round += 1) {
      for (const [sample, call] of [
        [bare, () => runBare()],
        [session, () => runSession()],
      ] as const) {
        const part = await measure(count / 4, concurrency, call);
        sample.times.push(...part.times);
        sample.total += part.total;
      }
    }
    rows.push({
      concurrency,
      'session /s': round(count / (session.total / 1000)),
      'session p50 ms': round(percentile(session.times, 0.5)),
      'session p95 ms': round(percentile(session.times, 0.95)),
      'bare /s': round(count / (bare.total / 1000)),
      'bare p50 ms': round(percentile(bare.times, 0.5)),
      'bare p95 ms': round(percentile(bare.times, 0.95)),
      'ratio of times': round(session.total / bare.total, 2),
    });
  }
  console.log(
    `\nSessions of ${lanes} lanes of ${laneMs} ms over HTTP, beside a bare workflow of ${lanes} activities\n`,
  );
  console.log(table(rows));

  const tokens = 1000;
  const word = { after_ms: 2, partial: 'blue ' };
  const streaming = {
    prompt: 'Say it often.',
    lanes: [0, 1, 2, 3, 4].map((index) => ({
      lane_id: `l${index}`,
      adapter: { kind: 'scripted', script: [{ ...word, repeat: tokens / lanes }, { final: 'blue' }] },
    })),
    policy: { early_exit: { enabled: false } },
  };
  const ids = { bare: await runBare(), plain: await runSession(), streaming: await runSession(streaming) };
  const [bareHistory, plainHistory, streamingHistory] = await Promise.all([
    history(ids.bare),
    history(ids.plain),
    history(ids.streaming),
  ]);
  console.log('\nWhat is left in history\n');
  console.log(
    table([
      { what: 'bare workflow', ...bareHistory },
      { what: 'plain five-lane session', ...plainHistory },
      { what: `session that streams ${tokens} tokens`, ...streamingHistory },
    ]),
  );
  console.log(`\nResident memory of gateway and worker: ${round(resident(), 0)} MiB\n`);
  worker.shutdown();
  await running;
  await connection.close();
  await app.close();
  rmSync(data, { recursive: true, force: true });
};
