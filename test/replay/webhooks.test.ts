import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { WebhookList } from '../../src/contracts/webhook.js';
import { createReplayer } from '../../temporal/replaying.js';
import type { WorkOutcome } from '../../workflows/options.js';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { historyText } from '../support/history-text.js';
import { type Product, startProduct } from '../support/product.js';
import { says } from '../support/session-bodies.js';
import { startReceiver } from '../support/webhook-receiver.js';

const folder = new URL('./histories/', import.meta.url);
const fileOf = (name: string): string => fileURLToPath(new URL(`${name}.json`, folder));

const keep = async (product: Product, id: string, name: string): Promise<void> => {
  const history = await product.client.workflow.getHandle(id).fetchHistory();
  writeFileSync(fileOf(name), historyText(history));
};

/** The deliveries of `workId` once they have all ended. Visibility follows after a moment. */
const ended = async (product: Product, workId: string, count: number): Promise<string[]> => {
  for (;;) {
    const { items } = (await product.get('/v1/webhooks?limit=200')).body as WebhookList;
    const own = items.filter(({ work_id, ended_at }) => work_id === workId && ended_at !== null);
    if (own.length >= count) return own.map(({ id }) => id);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Work that tells of itself, and what it told: PARLEY_RECORD=1 writes them anew. */
const record = async (): Promise<void> => {
  const product = await startProduct({ PARLEY_INLINE_BYTES: '1500000' });
  const receiver = await startReceiver();
  try {
    receiver.answers.push({ status: 500 }, { status: 204 });
    const webhooks = [{ url: `${receiver.url}/in` }];
    await product.run({ id: 'recorded-told-session', prompt: 'Which?', lanes: [says('a', 'blue')], webhooks });
    await keep(product, 'recorded-told-session', 'told-session');
    const [delivered = ''] = await ended(product, 'recorded-told-session', 1);
    await keep(product, delivered, 'webhook-delivered-after-a-retry');

    receiver.answers.splice(0, receiver.answers.length, { status: 410 });
    const debate = await product.debates.start({
      ...aDebate({ says: { solution: [proposes(sh('t', 'true'))] }, approval: { required: true, timeout_ms: 60_000 } }),
      id: 'recorded-told-debate',
      webhooks,
    });
    const { feedback } = await product.debates.until(debate, ({ waiting }) => waiting?.for === 'person');
    const [dead = ''] = await ended(product, debate, 1);
    await keep(product, dead, 'webhook-dead');
    const { request_id } = feedback.at(-1)!.request;
    await product.post(`/v1/debates/${debate}/feedback`, { request_id, response: 'reject', provided_by: 'anna' });
    await product.debates.until(debate, ({ lifecycle }) => lifecycle === 'completed');
    await product.client.workflow.getHandle(debate).result();
    await keep(product, debate, 'told-debate');
  } finally {
    await product.stop();
    await receiver.close();
    removeWorkspaces();
  }
};
if (process.env['PARLEY_RECORD'] === '1') beforeAll(record, 120_000);

const replayer = createReplayer({ bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '' });
afterAll(() => replayer.close());
const historyOf = (name: string) => historyFromJSON(JSON.parse(readFileSync(fileOf(name), 'utf8')));
const replayed = async (name: string): Promise<WorkOutcome[]> => {
  const outcomes: WorkOutcome[] = [];
  await replayer.replay({
    history: historyOf(name),
    workId: `recorded-${name}`,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  return outcomes;
};
const childrenOf = (name: string): string[] =>
  (historyOf(name).events ?? []).flatMap(({ startChildWorkflowExecutionInitiatedEventAttributes: child }) =>
    child ? [child.workflowId ?? ''] : [],
  );

describe('a recorded history', () => {
  test.each([
    ['told-session', 'COMPLETE', 1],
    ['told-debate', 'DONE', 2],
  ])('of work that tells of itself replays: %s', async (name, state, told) => {
    expect(await replayed(name)).toMatchObject([{ state }]);
    const children = childrenOf(name);
    expect(children).toHaveLength(told);
    for (const child of children) expect(child).toMatch(new RegExp(`^recorded-${name}:webhook:0:\\d+$`));
  });

  test.each(['webhook-delivered-after-a-retry', 'webhook-dead'])('of a delivery replays: %s', async (name) => {
    expect(await replayed(name)).toEqual([]);
  });
});
