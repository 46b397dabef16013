import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openStores } from '../../activities/artifacts/index.js';
import { createHistories } from '../../activities/clean-up/histories.js';
import { createCleanUp } from '../../activities/clean-up/index.js';
import type { CleanUpInput, HostCleaned } from '../../src/domain/clean-up.js';
import { ensureCleanUp } from '../../temporal/clean-up-schedule.js';
import { hostQueueOf } from '../../temporal/host-queue.js';
import { startOwnServer } from '../support/own-server.js';
import { type Product, startProduct } from '../support/product.js';
import { says as saysLane } from '../support/session-bodies.js';
import { calls, hangs, says } from '../support/team-bodies.js';
import { runCli } from '../support/run-cli.js';

// It reads the histories of all that a server has.
let server: Awaited<ReturnType<typeof startOwnServer>>;
let product: Product;
beforeAll(async () => {
  server = await startOwnServer();
  product = await startProduct();
}, 60_000);
afterAll(async () => {
  await product?.stop();
  await server?.stop();
});

const storesHere = () => openStores({ dataFolder: product.data, s3: null });
const cleaned = (histories = createHistories(product.client)) =>
  createCleanUp({
    stores: storesHere(),
    isBucket: false,
    dataFolder: product.data,
    histories,
    scope: 'default',
    now: () => Date.now() + 7_200_000,
  })({ withBucket: true });
const claims = async (): Promise<string[]> => {
  const found: string[] = [];
  for await (const { hash } of storesHere().claims.list()) found.push(hash);
  return found;
};

describe('a clean-up of what Temporal keeps', () => {
  test('leaves a session whole as long as it is kept, and nothing of it after that', async () => {
    const { id } = await product.run({ prompt: 'x'.repeat(200_000), lanes: [saysLane('a', 'blue')] });
    const needed = await claims();
    const orphan = await storesHere().claims.put('default', Buffer.alloc(100_000, randomUUID()));
    expect((await cleaned()).claims).toMatchObject({ removed: 1, removed_bytes: 100_000 });
    expect((await claims()).toSorted()).toEqual(needed.toSorted());
    expect(needed).not.toContain(orphan.hash);
    expect((await product.get(`/v1/sessions/${id}/checkpoints/0`)).status).toBe(200);

    // A server's retention is a day at least: here it keeps nothing.
    const emptied = { ...createHistories(product.client), texts: async function* () {} };
    expect((await cleaned(emptied)).claims.removed).toBe(needed.length);
    expect(await claims()).toEqual([]);
  });
});

describe('a clean-up beside a team', () => {
  test('leaves what its turns still need and the folders of its agents, and nothing of it once it is kept no more', async () => {
    const tools = ['write_file'];
    const writes = says('w', [calls(['write_file', { path: 'x', content: 'y' }]), 'Done.'], { tools });
    const id = await product.teams.start({ agents: [hangs('a', 'so far', { prompt: 'x'.repeat(90_000) }), writes] });
    await product.teams.until(
      id,
      ({ agents }) => agents.some(({ streaming }) => streaming) && agents.some(({ state }) => state === 'COMPLETED'),
    );
    // What is listed follows what happens after a moment, for which the young are spared.
    const isListed = async () => (await product.client.workflow.count(`WorkflowId STARTS_WITH '${id}'`)).count === 3;
    while (!(await isListed())) await new Promise((resolve) => setTimeout(resolve, 50));
    const needed = await claims();
    const folder = join(product.data, 'namespaces', id);
    expect(await cleaned()).toMatchObject({ claims: { removed: 0 }, folders: 0 });
    expect([needed.length > 0, await claims(), existsSync(join(folder, 'w', 'x'))]).toEqual([true, needed, true]);
    // It goes on: whatever it reads is there.
    expect((await product.get(`/v1/teams/${id}/checkpoints/0`)).status).toBe(200);
    expect((await product.post(`/v1/teams/${id}/cancel`)).body).toMatchObject({ state: 'CANCELLED' });

    const emptied = { ...createHistories(product.client), texts: async function* () {}, isKnown: async () => false };
    await cleaned(emptied);
    expect([await claims(), existsSync(folder), existsSync(join(product.data, 'executions', id))]).toEqual([
      [],
      false,
      false,
    ]);
  }, 60_000);
});

describe('the schedule', () => {
  test('is made once, cleans each host that has named itself, and says what it did', async () => {
    const { client, taskQueue } = product;
    const scheduleId = `clean-up-${randomUUID()}`;
    const hostQueue = hostQueueOf(product.data, taskQueue);
    await ensureCleanUp(client, { hostQueue, taskQueue, scheduleId });
    await ensureCleanUp(client, { hostQueue, taskQueue, scheduleId });
    const schedule = client.schedule.getHandle(scheduleId);
    try {
      const { action } = await schedule.describe();
      expect(action.args).toEqual([{ hostQueues: [hostQueue] } satisfies CleanUpInput]);
      await schedule.trigger();
      let done: { workflowId: string } | undefined;
      while (!done) {
        done = (await schedule.describe()).info.recentActions[0]?.action.workflow;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const result: HostCleaned[] = await client.workflow.getHandle(done.workflowId).result();
      expect(result).toEqual([{ host_queue: hostQueue, report: expect.objectContaining({ left: [] }) }]);

      await ensureCleanUp(client, { hostQueue: 'another', taskQueue, scheduleId });
      expect((await schedule.describe()).action.args).toEqual([{ hostQueues: [hostQueue, 'another'] }]);
    } finally {
      await schedule.delete();
    }
  });
});

describe('parley artifacts clean', () => {
  const run = async (...args: string[]) => {
    const env = { TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] };
    const { code, out, notes } = await runCli(env, ['artifacts', 'clean', '--data', product.data, ...args]);
    return { code, out: [out, notes].filter((text) => text !== '').join('\n') };
  };

  test('says what it would remove, and what it left alone', async () => {
    await storesHere().artifacts.put('acme', Buffer.from('young'));
    const { code, out } = await run('--dry-run');
    expect(out).toMatch(/^artifacts {2}0 of 1 would be removed, 0 bytes\npayloads {3}0 of \d+ would be removed/);
    expect(code).toBe(0);
    expect(JSON.parse((await run('--json')).out)).toMatchObject({
      dry_run: false,
      artifacts: { looked_at: 1 },
      left: [],
    });
  });
});
