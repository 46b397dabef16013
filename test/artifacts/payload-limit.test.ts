import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { createFolderStore } from '../../activities/artifacts/folder.js';
import { maxPayloadBytes } from '../../src/domain/payload-limit.js';
import { fromFailure } from '../../src/failure.js';
import { bundleWorkflows } from '../../temporal/bundle.js';
import { connectForWorker, type WorkerClient } from '../../temporal/client.js';
import { converterOf, createDataConverter } from '../../temporal/data-converter.js';
import { createParleyWorker } from '../../temporal/worker.js';
import { answerQuery, answers, endsWith, getsBack, handsOver } from './large-workflows.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-limit-'));
const store = createFolderStore(join(folder, 'claims'));
const taskQueue = `test-${randomUUID()}`;
const maxBytes = 300_000;
let temporal: WorkerClient;
let stop: () => Promise<void>;

beforeAll(async () => {
  temporal = await connectForWorker({
    address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    namespace: 'default',
    converter: (namespace) =>
      createDataConverter({ claims: store, isShared: true, namespace, inlineBytes: 65_536, maxBytes }),
  });
  const bundlePath = join(folder, 'workflows.cjs');
  writeFileSync(bundlePath, await bundleWorkflows(fileURLToPath(new URL('./large-workflows.ts', import.meta.url))));
  const worker = await createParleyWorker({
    connection: temporal.connection,
    namespace: 'default',
    taskQueue,
    activities: {
      lengthOf: async (text: string) => text.length,
      textOf: async (length: number) => 'a'.repeat(length),
    },
    bundlePath,
    dataConverter: converterOf(temporal.client, 'worker'),
    shutdownGraceMs: 500,
  });
  const running = worker.run();
  stop = async () => {
    worker.shutdown();
    await running;
    await temporal.connection.close();
    rmSync(folder, { recursive: true });
  };
}, 120_000);
afterAll(() => stop());

/** How a run ends: its result, or what failed it and how often its tasks failed on the way. */
const run = async <R>(workflow: (length: number) => Promise<R>, length: number) => {
  const workflowId = `limit-${randomUUID()}`;
  const handle = await temporal.client.workflow.start(workflow, { taskQueue, workflowId, args: [length] });
  const ended = await handle.result().then(
    (result) => ({ result, failure: null }),
    (error: unknown) => ({ result: null, failure: error }),
  );
  const { events = [] } = await handle.fetchHistory();
  // A busy machine may take so long over 64 MiB that a task is tried again; that the payload itself failed one is the fault.
  const failedTasks = (events ?? []).filter(({ workflowTaskFailedEventAttributes: failed }) =>
    failed?.failure?.message?.includes('one payload may take'),
  ).length;
  const attempts = (events ?? []).filter((event) => event.activityTaskStartedEventAttributes).length;
  return { ...ended, failedTasks, attempts, workflowId };
};

describe('a payload', () => {
  test('above what stays inline travels to an activity and back by its digest', async () => {
    expect(await run(handsOver, 200_000)).toMatchObject({ result: 200_000, failedTasks: 0 });
    expect(await run(getsBack, 200_000)).toMatchObject({ result: 200_000, failedTasks: 0 });
    expect((await run(endsWith, 200_000)).result).toHaveLength(200_000);
  });

  test('beyond the limit that an activity hands back fails at once, named by type and id', async () => {
    const { failure, failedTasks, attempts, workflowId } = await run(getsBack, maxBytes);
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    expect(fromFailure(failure)).toMatchObject({
      code: 'invalid_request',
      retryable: false,
      message: `What activity textOf (1) of workflow ${workflowId} hands back takes 300002 bytes; one payload may take at most 300000. Hand over less, or a file as an artifact.`,
    });
    expect({ failedTasks, attempts }).toEqual({ failedTasks: 0, attempts: 1 });
  });

  test.each([
    [
      'hands to an activity',
      handsOver,
      (id: string) => `The input of activity lengthOf (1) of workflow handsOver (${id})`,
    ],
    ['ends with', endsWith, (id: string) => `The result of workflow endsWith (${id})`],
  ])(
    'beyond the limit that a workflow %s fails it at once, and no task of it',
    async (_, workflow: (length: number) => Promise<unknown>, producer) => {
      const { failure, failedTasks, attempts, workflowId } = await run(workflow, maxPayloadBytes);
      expect(fromFailure(failure)).toMatchObject({ code: 'invalid_request', retryable: false });
      expect(fromFailure(failure)?.message).toContain(`${producer(workflowId)} takes 67108866 bytes`);
      expect({ failedTasks, attempts }).toEqual({ failedTasks: 0, attempts: 0 });
    },
    120_000,
  );

  test('beyond the limit that a client hands over is refused before anything is sent', async () => {
    const workflowId = `limit-${randomUUID()}`;
    const start = temporal.client.workflow.start('any', { taskQueue, workflowId, args: ['x'.repeat(maxBytes)] });
    await expect(start).rejects.toThrow(`What is handed to workflow ${workflowId} takes 300002 bytes`);
    await expect(temporal.client.workflow.getHandle(workflowId).describe()).rejects.toThrow(WorkflowNotFoundError);
  });

  test('that answers a query is not stored, as long as Temporal carries it', async () => {
    const count = async (): Promise<number> => {
      let found = 0;
      for await (const _ of store.list()) found += 1;
      return found;
    };
    const { workflowId } = await run(answers, 0);
    const handle = temporal.client.workflow.getHandle(workflowId);
    const before = await count();
    expect(await handle.query(answerQuery, 250_000)).toHaveLength(250_000);
    expect(await count()).toBe(before);
    expect(await handle.query(answerQuery, 3_000_000)).toHaveLength(3_000_000);
    expect(await count()).toBe(before + 1);
  });
});
