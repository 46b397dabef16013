import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { Client, Connection } from '@temporalio/client';
import { isDead, parseIdentity, thisProcess, workerIdentity } from '../../temporal/identity.js';
import { failDeadAttempts } from '../../temporal/recovery.js';

const identityOf = ({ host = hostname(), pid = 1, scope = thisProcess().scope, began = '0' }): string =>
  `parley@${host}:${pid}:${scope}.${began}`;
const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('an identity (Linux only)', () => {
  test('of this process reads back and is alive', () => {
    expect(parseIdentity(workerIdentity())).toEqual(thisProcess());
    expect(isDead(workerIdentity())).toBe(false);
  });

  test('of a process that has ended is dead', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => child.once('exit', resolve));
    expect(isDead(identityOf({ pid: child.pid! }))).toBe(true);
  });

  test.each<[string, boolean, string]>([
    ['whose number another process has now', true, identityOf({ pid: process.pid, began: '1' })],
    ['of another host', false, identityOf({ host: 'elsewhere', pid: 2 ** 22 })],
    ['of another boot or container', false, identityOf({ scope: 'ffffffff.1', pid: 2 ** 22 })],
    ['that does not say where it ran', false, `parley@${hostname()}:${2 ** 22}`],
    ['of another program', false, `${2 ** 22}@${hostname()}`],
  ])('%s: dead is %s', (_, dead, identity) => expect(isDead(identity)).toBe(dead));
});

describe('recovery after a worker died', () => {
  let connection: Connection;
  let client: Client;
  const taskQueue = `recovery-${randomUUID()}`;
  const dead = 'parley@here:1:dead';
  const alive = 'parley@here:2:alive';
  const isDeadIdentity = (identity: string): boolean => identity === dead;

  beforeAll(async () => {
    connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    client = new Client({ connection });
  });
  afterAll(() => connection?.close());

  /** Polls want to know how long they may wait. */
  const poll = <T>(ask: () => Promise<T>): Promise<T> => connection.withDeadline(Date.now() + 20_000, ask);

  /** Plays a worker by hand: a run with one activity for each identity, each taken by it and never answered. */
  async function runWithActivitiesOf(identities: string[]) {
    const handle = await client.workflow.start('byHand', { taskQueue, workflowId: `recovery-${randomUUID()}` });
    const namespace = 'default';
    const task = await poll(() =>
      connection.workflowService.pollWorkflowTaskQueue({
        namespace,
        taskQueue: { name: taskQueue },
        identity: dead,
      }),
    );
    await connection.workflowService.respondWorkflowTaskCompleted({
      namespace,
      taskToken: task.taskToken,
      commands: identities.map((_, index) => ({
        commandType: 1, // schedule an activity task
        scheduleActivityTaskCommandAttributes: {
          activityId: `${index}`,
          activityType: { name: 'call' },
          taskQueue: { name: `${taskQueue}-${index}` },
          startToCloseTimeout: { seconds: 3_600 as never },
          retryPolicy: { initialInterval: { seconds: 3_600 as never } },
        },
      })),
    });
    for (const [index, identity] of identities.entries()) {
      await poll(() =>
        connection.workflowService.pollActivityTaskQueue({
          namespace,
          taskQueue: { name: `${taskQueue}-${index}` },
          identity,
        }),
      );
    }
    // The list of open runs follows the runs after a moment.
    for (;;) {
      const { count } = await client.workflow.count(`WorkflowId = '${handle.workflowId}'`);
      if (count === 1) return handle;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  test('fails the attempts of the dead worker alone, and they are tried again without a wait', async () => {
    const handle = await runWithActivitiesOf([dead, alive]);
    expect(await failDeadAttempts({ client, taskQueue, isDeadIdentity })).toBe(1);
    // An hour stands between the attempts by policy; this poll returns because it does not count here.
    const retry = await poll(() =>
      connection.workflowService.pollActivityTaskQueue({
        namespace: 'default',
        taskQueue: { name: `${taskQueue}-0` },
        identity: alive,
      }),
    );
    const { raw } = await handle.describe();
    await handle.terminate();
    const pending = raw.pendingActivities?.map(({ attempt, lastFailure }) => [
      attempt,
      lastFailure?.applicationFailureInfo?.type,
    ]);
    // The server lists them in no order.
    const mostTriedFirst = pending?.toSorted(([a], [b]) => Number(b) - Number(a));
    expect({ attempt: retry.attempt, pending: mostTriedFirst }).toEqual({
      attempt: 2,
      pending: [
        [2, 'WorkerDied'],
        [1, undefined],
      ],
    });
  });

  test('goes over many runs with few questions at once, and finds nothing more the second time', async () => {
    const handles = await Promise.all(Array.from({ length: 8 }, () => runWithActivitiesOf([dead])));
    expect(await failDeadAttempts({ client, taskQueue, isDeadIdentity, concurrency: 3 })).toBe(8);
    expect(await failDeadAttempts({ client, taskQueue, isDeadIdentity, concurrency: 3 })).toBe(0);
    await Promise.all(handles.map((handle) => handle.terminate()));
  });
});
