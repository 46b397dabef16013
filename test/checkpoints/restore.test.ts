import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import type { Problem } from '../../src/contracts/problem.js';
import type { Restored } from '../../src/contracts/time-travel.js';
import { aDebate, makeWorkspace, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { aFanOut, anAgent, scripted, tasks } from '../support/fan-out-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { external, lane, noEarlyExit, says, silence } from '../support/session-bodies.js';
import { follow } from '../support/sse.js';
import { checkpointsOf, ended, type EndedWork, oneFails } from '../support/work-at.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
});

const pathOf = (collection: string, id: string): string => `/v1/${collection}/${id}`;
/** Who had a turn and how it ended; who runs beside others may end in any order. */
const turns = ({ items }: CheckpointList): string[] =>
  items.map(({ agent_id, phase, trigger }) => `${agent_id} ${phase} ${trigger}`).toSorted();
const restore = async (path: string, checkpoint: number, reason = 'once more', key?: string): Promise<Restored> => {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const { status, body } = await product.post(`${path}/restore`, { checkpoint, reason }, headers);
  expect({ status, body }).toMatchObject({ status: 202 });
  return body as Restored;
};

describe('restored at each of its checkpoints', () => {
  test.each<[string, () => Promise<EndedWork>, string[]]>([
    [
      'sessions',
      () =>
        product.run({
          prompt: 'Which colour?',
          lanes: [says('a', 'blue'), says('b', 'blue', 1), says('c', 'red', 2)],
          policy: noEarlyExit,
        }),
      ['answer', 'agreement', 'for', 'against', 'ended_by'],
    ],
    [
      'debates',
      () => product.debates.run(aDebate({ says: { solution: [proposes(sh('t', 'echo done > there'))] } })),
      ['decision', 'outcome', 'consensus', 'passes'],
    ],
    [
      'refinements',
      () => product.refinements.run(aRefinement()),
      ['status', 'reason', 'iterations', 'version', 'score', 'output'],
    ],
    ['fan-outs', () => product.fanOuts.run(oneFails()), ['value', 'partial', 'completed', 'failed']],
  ])(
    '%s come to the same result, and say what happened',
    async (collection, run, same) => {
      const original = await run();
      const path = pathOf(collection, original.id);
      const { items } = await checkpointsOf(product, path);
      const picked = (status: EndedWork) =>
        Object.fromEntries(same.map((name) => [name, (status.result as Record<string, unknown>)[name]]));
      const hear = async (since: number) =>
        (await follow(`${product.url}${path}/events`, since)).filter(({ id }) => id !== null);
      const told = await hear(0);
      for (const { sequence_num } of items.toReversed()) {
        await restore(path, sequence_num);
        const again = await ended(product, path);
        expect({ at: sequence_num, state: again.state, ...picked(again) }).toEqual({
          at: sequence_num,
          state: original.state,
          ...picked(original),
        });
        expect(again.started_at).toBe(original.started_at);
        const after = await checkpointsOf(product, path);
        expect(turns(after)).toEqual(turns({ items, restores: [] }));
        expect(after.restores.at(-1)).toMatchObject({ checkpoint: sequence_num, reason: 'once more', by: 'local' });
        const heard = await hear(told.length);
        expect(heard[0]).toMatchObject({ event: 'restored', data: { checkpoint: sequence_num } });
        told.push(...heard);
      }
      // What was told before stayed, and what came was told after it, without a hole.
      expect(await hear(0)).toEqual(told);
      expect(told.map(({ id }) => id)).toEqual(told.map((_, index) => index + 1));
    },
    300_000,
  );
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const problemOf = async (path: string, body: unknown, headers = {}): Promise<Problem> =>
  (await product.post(`${path}/restore`, body, headers)).body as Problem;

describe('a session that is restored', () => {
  test('asks again whom it still waited for, and nobody who had ended', async () => {
    const { id } = await product.start({
      prompt: 'Which colour?',
      lanes: [says('a', 'blue'), lane('b', [{ partial: 'bl' }, ...silence])],
      policy: noEarlyExit,
    });
    await product.until(id, ({ lanes }) => lanes[0]?.state === 'FINALIZED');
    const path = pathOf('sessions', id);
    const { items } = await checkpointsOf(product, path);
    await restore(path, items.at(-1)!.sequence_num);
    const { lanes } = await product.until(id, ({ lanes: [, b] }) => b?.attempt === 2 && b.state === 'STREAMING');
    expect(lanes[0]).toMatchObject({ state: 'FINALIZED', attempt: 1 });
    await product.post(`${path}/cancel`);
  });

  test('is not late for the time that passed since', async () => {
    const ends = await product.run({
      prompt: 'Which colour?',
      lanes: [says('a', 'blue'), says('b', 'blue', 1)],
      policy: { ...noEarlyExit, deadline_ms: 4_000 },
    });
    const path = pathOf('sessions', ends.id);
    const { items } = await checkpointsOf(product, path);
    await pause(4_200);
    await restore(path, items.find(({ agent_id }) => agent_id === 'a')!.sequence_num);
    expect(await ended(product, path)).toMatchObject({
      state: 'COMPLETE',
      result: { ended_by: 'all_final', answer: 'blue' },
    });
  });

  test('takes frames of an external lane where its state stood', async () => {
    const started = await product.start({ prompt: 'Which colour?', lanes: [external('a')] });
    const path = pathOf('sessions', started.id);
    const frames = (...list: object[]) =>
      product.post(`${path}/lanes/a/frames`, { frames: list }, { authorization: `Bearer ${started.lane_keys!['a']}` });
    await product.until(started.id, ({ state }) => state === 'STREAMING');
    expect((await frames({ type: 'partial', msg_seq: 1, text: 'bl' })).status).toBe(200);
    await restore(path, 0);
    const { body } = await frames({ type: 'final', msg_seq: 1, text: 'red' });
    expect(body).toMatchObject({ accepted: 1, duplicates: 0 });
    expect(await ended(product, path)).toMatchObject({ state: 'COMPLETE', result: { answer: 'red' } });
  });

  test('goes on also when it had been terminated from outside, and is listed once', async () => {
    const started = await product.start({ prompt: 'Which colour?', tenant: 'restored-tenant', lanes: [external('a')] });
    const { id } = started;
    await product.until(id, ({ state }) => state === 'STREAMING');
    await product.client.workflow.getHandle(id).terminate('a mistake');
    const path = pathOf('sessions', id);
    expect(await ended(product, path)).toMatchObject({ lifecycle: 'cancelled' });
    await restore(path, 0, 'it was a mistake');
    const frames = [{ type: 'final', msg_seq: 1, text: 'blue' }];
    const key = { authorization: `Bearer ${started.lane_keys!['a']}` };
    await product.until(id, ({ state }) => state === 'STREAMING');
    expect((await product.post(`${path}/lanes/a/frames`, { frames }, key)).status).toBe(200);
    expect(await ended(product, path)).toMatchObject({ lifecycle: 'completed' });
    const listed = async () =>
      ((await product.get('/v1/work?tenant=restored-tenant')).body as { items: { lifecycle: string }[] }).items;
    for (let look = 0; look < 400 && (await listed()).some(({ lifecycle }) => lifecycle !== 'completed'); look += 1)
      await pause(100);
    expect(await listed()).toMatchObject([{ lifecycle: 'completed' }]);
  });
});

describeWithSandbox('a fan-out that is restored behind its barrier', () => {
  const calls = async (id: string): Promise<string[]> => {
    const { events } = await product.client.workflow.getHandle(id).fetchHistory();
    return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  };

  test('does not run again whom the barrier gave up, though that one still ended then', async () => {
    const stubborn = { kind: 'command' as const, argv: ['sh', '-c', "trap '' TERM; sleep 600"] };
    const original = await product.fanOuts.run(
      aFanOut({
        agents: [anAgent('a'), anAgent('b', { adapter: stubborn })],
        barrier: { timeout_ms: 3_000, min_completion_ratio: 0.5 },
        fan_out: { tasks: tasks(2) },
        fan_in: { quality: { critic: { adapter: scripted('{"score":0.9}') } } },
      }),
    );
    const path = pathOf('fan-outs', original.id);
    const turnsOf = async () => (await checkpointsOf(product, path)).items.map(({ agent_id }) => agent_id);
    const before = await turnsOf();
    // It ignores the signal, and is killed a second later: the fan-in is done by then.
    expect(before.slice(-3)).toEqual(['fan_in', 'score', 'b']);
    expect(await calls(original.id)).toEqual(['prepareFanOut', 'runWorker', 'runWorker', 'fanIn', 'scoreFanIn']);
    await restore(path, before.indexOf('fan_in'));
    expect(await ended(product, path)).toMatchObject({ state: 'COMPLETED', result: original.result });
    expect(await turnsOf()).toEqual(before.slice(0, -1));
    expect(await calls(original.id)).toEqual(['scoreFanIn']);
    expect((await product.fanOuts.status(original.id)).tasks[1]).toMatchObject({ state: 'CANCELLED', late: false });
  });
});

describe('a restore that is asked for twice', () => {
  const aDone = () => product.run({ prompt: 'Which colour?', lanes: [says('a', 'blue')] });

  test('with the same key is done once', async () => {
    const path = pathOf('sessions', (await aDone()).id);
    const first = await restore(path, 0, 'once', 'key-1');
    await ended(product, path);
    const second = await product.post(
      `${path}/restore`,
      { checkpoint: 0, reason: 'once' },
      { 'idempotency-key': 'key-1' },
    );
    expect(second.status).toBe(202);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((second.body as Restored).temporal_run_id).toBe(first.temporal_run_id);
    expect((await checkpointsOf(product, path)).restores).toHaveLength(1);
    const other = await product.post(
      `${path}/restore`,
      { checkpoint: 1, reason: 'once' },
      { 'idempotency-key': 'key-1' },
    );
    expect(other).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });

  test('at the same moment is done for one of them, or for one after the other', async () => {
    const path = pathOf('sessions', (await aDone()).id);
    const answers = await Promise.all(
      ['left', 'right'].map((reason) => product.post(`${path}/restore`, { checkpoint: 0, reason })),
    );
    const done = answers.filter(({ status }) => status === 202).length;
    expect(done).toBeGreaterThan(0);
    for (const { status, body } of answers)
      if (status !== 202) expect(body).toMatchObject({ status: 409, code: 'conflict' });
    expect(await ended(product, path)).toMatchObject({ state: 'COMPLETE' });
  });
});

describe('a debate that is restored with rollback', () => {
  test('takes back what its tasks did, then goes on', async () => {
    const workspace = makeWorkspace({ kept: 'as it was' });
    const plan = proposes(sh('t1', 'echo 1 >> log'), sh('t2', 'sleep 600', { depends_on: ['t1'] }));
    const id = await product.debates.start(aDebate({ workspace: { path: workspace }, says: { solution: [plan] } }));
    const path = pathOf('debates', id);
    await product.debates.until(id, ({ report }) => report?.tasks.length === 1);
    const items = (await checkpointsOf(product, path)).items;
    const before = items.find(({ agent_id }) => agent_id === 'optimizer')!.sequence_num;
    const { status } = await product.post(`${path}/restore`, { checkpoint: before, reason: 'again', rollback: true });
    expect(status).toBe(202);
    const again = await product.debates.until(id, ({ report }) => report?.tasks.length === 1);
    expect(again.report!.tasks[0]).toMatchObject({ task_id: 't1' });
    // Once: the first run's line was taken back.
    expect(readFileSync(join(workspace, 'log'), 'utf8')).toBe('1\n');
    await product.post(`${path}/cancel`);
  }, 60_000);

  test('is not sent back into what the rollback takes back, and nothing is stopped', async () => {
    const plan = proposes(sh('t1', 'true'), sh('t2', 'sleep 600', { depends_on: ['t1'] }));
    const id = await product.debates.start(aDebate({ says: { solution: [plan] } }));
    const path = pathOf('debates', id);
    await product.debates.until(id, ({ report }) => report?.tasks.length === 1);
    const last = (await checkpointsOf(product, path)).items.at(-1)!.sequence_num;
    for (const checkpoint of [last, 99])
      expect(await product.post(`${path}/restore`, { checkpoint, reason: 'again', rollback: true })).toMatchObject({
        status: checkpoint === 99 ? 404 : 409,
      });
    expect(await product.debates.status(id)).toMatchObject({ state: 'EXECUTING' });
    await product.post(`${path}/cancel`);
  }, 60_000);

  test('that has ended is refused: its snapshot went with it', async () => {
    const done = await product.debates.run(aDebate({ says: { solution: [proposes(sh('t', 'true'))] } }));
    const problem = await problemOf(pathOf('debates', done.id), { checkpoint: 1, reason: 'again', rollback: true });
    expect(problem).toMatchObject({ status: 409, code: 'wrong_state' });
    expect(problem.detail).toContain('restore it without rollback');
  });
});

describe('a restore that cannot be', () => {
  let path: string;
  beforeAll(async () => {
    path = pathOf('sessions', (await product.run({ prompt: 'Which colour?', lanes: [says('a', 'blue')] })).id);
  });

  test.each<[object, string]>([
    [{ reason: 'why' }, 'checkpoint'],
    [{ checkpoint: -1, reason: 'why' }, 'checkpoint'],
    [{ checkpoint: 1.5, reason: 'why' }, 'checkpoint'],
    [{ checkpoint: 'last', reason: 'why' }, 'checkpoint'],
    [{ checkpoint: 0 }, 'reason'],
    [{ checkpoint: 0, reason: '  ' }, 'reason'],
    [{ checkpoint: 0, reason: 'why', rollback: 'yes' }, 'rollback'],
    [{ checkpoint: 0, reason: 'why', rollback: true }, 'rollback'],
    [{ checkpoint: 0, reason: 'why', undo: true }, 'undo'],
  ])('%j is refused by name, and nothing is started', async (body, at) => {
    const problem = await problemOf(path, body);
    expect(problem).toMatchObject({ status: 422, code: 'invalid_request' });
    expect(problem.errors!.map(({ path: fault }) => fault)).toEqual([at]);
    expect((await checkpointsOf(product, path)).restores).toEqual([]);
  });

  test('a reason that is a book is refused', async () => {
    const problem = await problemOf(path, { checkpoint: 0, reason: 'x'.repeat(2_001) });
    expect(problem).toMatchObject({ status: 422, errors: [{ path: 'reason' }] });
  });

  test('a checkpoint that is not there, and work that is not there, are not found', async () => {
    expect(await problemOf(path, { checkpoint: 99, reason: 'why' })).toMatchObject({ status: 404 });
    expect(await problemOf('/v1/sessions/nobody', { checkpoint: 0, reason: 'why' })).toMatchObject({ status: 404 });
    expect(await problemOf(path.replace('sessions', 'debates'), { checkpoint: 0, reason: 'why' })).toMatchObject({
      status: 404,
    });
  });

  test('a worker sends nothing back', async () => {
    const problem = await problemOf(path, { checkpoint: 0, reason: 'why' }, { 'parley-worker': 'w' });
    expect(problem).toMatchObject({ status: 403, code: 'forbidden' });
  });
});
