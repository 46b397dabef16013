import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Registry } from 'prom-client';
import { createTenantBudgets } from '../../activities/budgets/index.js';
import { createBudgetLink } from '../../activities/budgets/link.js';
import { createBudgetMetrics } from '../../activities/budgets/metrics.js';
import { tenantBudgetLimitsSchema, type TenantBudget } from '../../src/contracts/tenant-budget.js';
import { tenantBudgetId } from '../../src/domain/tenant-budget/messages.js';
import { connectForWorker } from '../../temporal/client.js';
import { exportOfHistory } from '../../temporal/history-file.js';
import { createReplayer } from '../../temporal/replaying.js';
import { createParleyWorker } from '../../temporal/worker.js';
import { answerBudgetUpdate } from '../../workflows/tenant-budget-messages.js';
import { historyText } from '../support/history-text.js';
import { amount } from '../support/ledger-play.js';

const file = fileURLToPath(new URL('./histories/tenant-budget-of-two-workers.json', import.meta.url));
const bundlePath = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';

/** Two workers use a budget up, one call is given up while it waits for a person, who gives more. PARLEY_RECORD=1 writes it anew. */
const record = async (): Promise<void> => {
  const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
  const { connection, client } = await connectForWorker({ address, namespace: 'default', isEmbedded: true });
  const taskQueue = `test-${randomUUID()}`;
  const worker = await createParleyWorker({ connection, namespace: 'default', taskQueue, activities: {}, bundlePath });
  const running = worker.run();
  const limits = tenantBudgetLimitsSchema.parse({ max_tokens: 100, per: 'month', when_used_up: 'ask' });
  const [one, other] = ['one', 'other'].map((name) =>
    createTenantBudgets({
      budgets: { acme: limits },
      link: createBudgetLink({ client, taskQueue, onBegunAnew: () => undefined }),
      metrics: createBudgetMetrics(new Registry(), () => true),
      name,
      onError: (error) => {
        throw error;
      },
    }),
  );
  const handle = client.workflow.getHandle(tenantBudgetId(taskQueue, 'acme'));
  const until = async (holds: (status: TenantBudget) => boolean): Promise<void> => {
    while (!holds(await handle.query<TenantBudget>('status'))) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const call = (tokens: number) => ({ tenant: 'acme', amount: amount(tokens), isCapped: true, cheaper: null });
  const never = new AbortController().signal;
  try {
    const first = await one!.reserve(call(60), never);
    const second = await other!.reserve(call(40), never);
    first.end(amount(60));
    second.end(amount(40));
    await until(({ spent }) => spent.tokens === 100);
    const stop = new AbortController();
    const waiting = one!.reserve(call(50), never);
    const givenUp = other!.reserve(call(50), stop.signal).catch(() => null);
    await until(({ calls, state }) => calls.waiting === 2 && state === 'asking');
    stop.abort();
    await givenUp;
    await until(({ calls }) => calls.waiting === 1);
    await handle.executeUpdate(answerBudgetUpdate, { args: [{ maxTokens: 200 }] });
    (await waiting).end(amount(45));
    await until(({ spent, calls }) => spent.tokens === 145 && calls.under_way === 0);
    writeFileSync(file, historyText(await handle.fetchHistory()));
  } finally {
    await Promise.all([one!.close(), other!.close()]);
    await handle.terminate('recorded');
    worker.shutdown();
    await running;
    await connection.close();
  }
};
if (process.env['PARLEY_RECORD'] === '1') beforeAll(record, 120_000);

describe("a recorded history of a tenant's budget", () => {
  const text = (): string => readFileSync(file, 'utf8');

  test('replays', async () => {
    const history = historyFromJSON(JSON.parse(text()));
    const replayer = createReplayer({ bundlePath });
    await replayer.replay({ history, workId: 'budget:parley:acme' });
    await replayer.close();
    const timers = (history.events ?? []).filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes);
    expect(timers.length).toBeGreaterThan(0);
  });

  test('is what a check before a deployment knows', async () => {
    expect(await exportOfHistory('budget', text())).toMatchObject({ kind: 'tenantBudget', closed_as: null });
  });
});
