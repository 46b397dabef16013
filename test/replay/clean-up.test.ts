import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultPayloadConverter } from '@temporalio/common';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { type CleanUpInput, cleanUpWorkflowType, type HostCleaned } from '../../src/domain/clean-up.js';
import { hostQueueOf } from '../../temporal/host-queue.js';
import { createReplayer } from '../../temporal/replaying.js';
import type { AskedCall } from '../../workflows/told-calls.js';
import { historyText } from '../support/history-text.js';
import { startProduct } from '../support/product.js';

const file = fileURLToPath(new URL('./histories/clean-up-one-of-three-hosts-fails.json', import.meta.url));
const workflowId = 'recorded-clean-up';

/** Three hosts, of which the first one's files cannot be read. PARLEY_RECORD=1 writes it anew. */
const record = async (): Promise<void> => {
  const products = [await startProduct(), await startProduct(), await startProduct()];
  try {
    const [broken] = products;
    if (!broken) throw new Error('there is no product');
    mkdirSync(join(broken.data, 'owner'), { recursive: true });
    const hostQueues = products.map(({ data, taskQueue }) => hostQueueOf(data, taskQueue));
    const handle = await broken.client.workflow.start(cleanUpWorkflowType, {
      workflowId,
      taskQueue: broken.taskQueue,
      args: [{ hostQueues } satisfies CleanUpInput],
    });
    await handle.result();
    const history = historyText(await handle.fetchHistory());
    writeFileSync(
      file,
      products.reduce((text, { data }) => text.replaceAll(data, '/data'), history),
    );
  } finally {
    for (const product of products) await product.stop();
  }
};

if (process.env['PARLEY_RECORD'] === '1') beforeAll(record, 300_000);

describe('a recorded history of a clean-up', () => {
  test('replays: each host has its turn, and the bucket is cleaned once', async () => {
    const history = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')));
    const calls: AskedCall[] = [];
    const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
    await replayer.replay({ history, workId: workflowId, inspected: 'all', onCall: (call) => calls.push(call) });
    await replayer.close();
    expect(calls.map(({ name, args }) => [name, ...args])).toEqual([
      ['cleanUpHost', true],
      ['cleanUpHost', true],
      ['cleanUpHost', false],
    ]);
    const [payload] = history.events?.at(-1)?.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [];
    if (!payload) throw new Error('it was not recorded to its end');
    const hosts: HostCleaned[] = defaultPayloadConverter.fromPayload(payload);
    expect(hosts.map(({ report }) => report !== null)).toEqual([false, true, true]);
  });
});
