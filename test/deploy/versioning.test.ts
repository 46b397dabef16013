import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { ConfigError, loadConfig } from '../../src/config.js';
import { governorId } from '../../src/domain/governor/messages.js';
import { tenantBudgetId } from '../../src/domain/tenant-budget/messages.js';
import { type RunningWorker, runWorker } from '../../temporal/run-worker.js';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { says, silent } from '../support/session-bodies.js';

const deployment = `parley-${randomUUID()}`;
const settings = (build: string) => ({ PARLEY_DEPLOYMENT: deployment, PARLEY_BUILD_ID: build });
const namespace = 'default';

/** As an operator does it with Temporal's CLI; a version is known once one of its workers has asked for work. */
const makeCurrent = async ({ workflowService }: Client, buildId: string): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await workflowService.setWorkerDeploymentCurrentVersion({ namespace, deploymentName: deployment, buildId });
      return;
    } catch (error) {
      if (tries > 300) throw error;
      await delay(100);
    }
  }
};

/** How a piece of work is bound to a version. */
const versionOf = async (client: Client, id: string) => {
  const { raw } = await client.workflow.getHandle(id).describe();
  const { behavior, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
  return { isPinned: behavior === 1, build: deploymentVersion?.buildId, deployment: deploymentVersion?.deploymentName };
};

describe('workers with PARLEY_DEPLOYMENT and PARLEY_BUILD_ID', () => {
  let product: Product;
  let second: RunningWorker | undefined;
  let connection: NativeConnection | undefined;
  beforeAll(async () => {
    product = await startProduct({
      ...settings('one'),
      PARLEY_PROVIDER_LIMITS: '{"providers":{"simulated":{}}}',
      PARLEY_TENANT_BUDGETS: '{"default":{"max_tokens":1000000}}',
    });
    await makeCurrent(product.client, 'one');
  }, 60_000);
  afterAll(async () => {
    await second?.drain();
    await connection?.close();
    await product?.stop();
    removeWorkspaces();
  }, 60_000);

  test('register so, and their work is pinned to them', async () => {
    const { id, state } = await product.run({ prompt: 'p', lanes: [says('a', 'x')] });
    expect(state).toBe('COMPLETE');
    expect(await versionOf(product.client, id)).toEqual({ isPinned: true, build: 'one', deployment });
  }, 60_000);

  test("keep providers' limits, and budgets of tenants, in workflows that move to whichever version is current", async () => {
    const adapter = { kind: 'simulated', model: 'small', first_token_ms: 1, tokens_per_second: 1_000 } as const;
    const { state } = await product.run({ prompt: 'p', lanes: [{ lane_id: 'a', adapter }] });
    expect(state).toBe('COMPLETE');
    for (const id of [governorId(product.taskQueue, 'simulated'), tenantBudgetId(product.taskQueue, 'default')])
      expect(await versionOf(product.client, id)).toEqual({ isPinned: false, build: 'one', deployment });
  }, 60_000);

  test('do what belongs to their machine as well', async () => {
    const { state, result } = await product.debates.run(aDebate({ says: { solution: [proposes(sh('t', 'true'))] } }));
    expect([state, result?.outcome]).toEqual(['DONE', 'succeeded']);
  }, 60_000);

  test('keep what they began when another build becomes current, which takes what is new', async () => {
    const begun = await product.start({ prompt: 'p', lanes: [says('a', 'x'), silent('b')] });
    await product.until(begun.id, ({ lanes }) => lanes[0]?.state === 'FINALIZED');
    const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
    connection = await NativeConnection.connect({ address });
    second = await runWorker({
      config: loadConfig({ PARLEY_DATA: product.data, LOG_LEVEL: 'silent', ...settings('two') }),
      connection,
      client: product.client,
      namespace,
      bus: product.bus,
      logger: pino({ level: 'silent' }),
      registry: new Registry(),
      environment: process.env,
      taskQueue: product.taskQueue,
      bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
      shutdownGraceMs: 500,
    });
    await makeCurrent(product.client, 'two');
    // The server tells its queues of a current version in its own time.
    const deadline = Date.now() + 60_000;
    const takesNew = async (): Promise<Awaited<ReturnType<typeof versionOf>>> => {
      const fresh = await product.run({ prompt: 'p', lanes: [says('a', 'x')] });
      const version = await versionOf(product.client, fresh.id);
      return version.build === 'two' || Date.now() > deadline ? version : await takesNew();
    };
    const fresh = await takesNew();
    await product.post(`/v1/sessions/${begun.id}/cancel`);
    expect((await product.status(begun.id)).state).toBe('CANCELLED');
    expect([await versionOf(product.client, begun.id), fresh]).toEqual([
      { isPinned: true, build: 'one', deployment },
      { isPinned: true, build: 'two', deployment },
    ]);
  }, 120_000);
});

describe('the version of a worker', () => {
  test.each<[string, Record<string, string>, unknown]>([
    ['is none where nothing is set', {}, null],
    ['is none where nothing is said', { PARLEY_DEPLOYMENT: '', PARLEY_BUILD_ID: '' }, null],
    ['is of the deployment parley', { PARLEY_BUILD_ID: '1.4.0' }, { name: 'parley', buildId: '1.4.0' }],
    [
      'is as it is named',
      { PARLEY_DEPLOYMENT: 'teams', PARLEY_BUILD_ID: '9f1c2aa' },
      { name: 'teams', buildId: '9f1c2aa' },
    ],
  ])('%s', (_, environment, version) => {
    expect(loadConfig(environment).deployment).toEqual(version);
  });

  test.each<[Record<string, string>, RegExp]>([
    [{ PARLEY_DEPLOYMENT: 'teams' }, /PARLEY_BUILD_ID must be set where PARLEY_DEPLOYMENT is/],
    [
      { PARLEY_DEPLOYMENT: 'a.b', PARLEY_BUILD_ID: '1' },
      /PARLEY_DEPLOYMENT must be 1 to 100 letters, digits, "_" or "-"/,
    ],
    [{ PARLEY_BUILD_ID: 'a b' }, /PARLEY_BUILD_ID must be 1 to 100 letters, digits, "\.", "_" or "-"/],
  ])('%j is refused', (environment, words) => {
    expect(() => loadConfig(environment)).toThrow(ConfigError);
    expect(() => loadConfig(environment)).toThrow(words);
  });
});
