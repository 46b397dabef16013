import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import type { Problem } from '../../src/contracts/problem.js';
import type { Restored } from '../../src/contracts/time-travel.js';
import { aDebate, makeWorkspace, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { aFanOut, aTask, failing, scripted } from '../support/fan-out-bodies.js';
import { type Product, startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { external, lane, noEarlyExit, says, scripted as script } from '../support/session-bodies.js';
import { follow } from '../support/sse.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
  removeWorkspaces();
});

interface Ended {
  id: string;
  lifecycle: string;
  state: string;
  result: object | null;
  started_at: string;
}
const pathOf = (collection: string, id: string): string => `/v1/${collection}/${id}`;
const checkpointsOf = async (path: string): Promise<CheckpointList> => {
  const { status, body } = await product.get(`${path}/checkpoints`);
  expect(status).toBe(200);
  return body as CheckpointList;
};
const restore = async (path: string, checkpoint: number, reason = 'once more', key?: string): Promise<Restored> => {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const { status, body } = await product.post(`${path}/restore`, { checkpoint, reason }, headers);
  expect({ status, body }).toMatchObject({ status: 202 });
  return body as Restored;
};
const ended = async (path: string): Promise<Ended> => {
  for (let look = 0; look < 600; look += 1) {
    const { body } = await product.get(path);
    const status = body as Ended;
    if (!['running', 'waiting'].includes(status.lifecycle)) return status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${path} does not end`);
};

describe('restored at each of its checkpoints', () => {
  test.each<[string, () => Promise<Ended>, string[]]>([
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
    [
      'fan-outs',
      () =>
        product.fanOuts.run(
          aFanOut({
            fan_out: {
              tasks: [
                aTask('t1', { adapter: scripted({ a: 1 }) }),
                aTask('t2', { adapter: scripted({ b: 2 }) }),
                aTask('t3', { adapter: failing('no') }),
              ],
            },
          }),
        ),
      ['value', 'partial', 'completed', 'failed'],
    ],
  ])(
    '%s come to the same result, and say what happened',
    async (collection, run, same) => {
      const original = await run();
      const path = pathOf(collection, original.id);
      const { items } = await checkpointsOf(path);
      const picked = (status: Ended) =>
        Object.fromEntries(same.map((name) => [name, (status.result as Record<string, unknown>)[name]]));
      let told = (await follow(`${product.url}${path}/events`)).filter(({ id }) => id !== null);
      for (const { sequence_num } of items.toReversed()) {
        await restore(path, sequence_num);
        const again = await ended(path);
        expect({ at: sequence_num, state: again.state, ...picked(again) }).toEqual({
          at: sequence_num,
          state: original.state,
          ...picked(original),
        });
        expect(again.started_at).toBe(original.started_at);
        const after = await checkpointsOf(path);
        expect(after.items.map(({ agent_id, phase, trigger }) => ({ agent_id, phase, trigger }))).toEqual(
          items.map(({ agent_id, phase, trigger }) => ({ agent_id, phase, trigger })),
        );
        expect(after.restores.at(-1)).toMatchObject({ checkpoint: sequence_num, reason: 'once more', by: 'local' });
        // What was told before stays, and what comes is told after it, without a hole.
        const heard = (await follow(`${product.url}${path}/events`)).filter(({ id }) => id !== null);
        expect(heard.slice(0, told.length)).toEqual(told);
        expect(heard[told.length]).toMatchObject({ event: 'restored', data: { checkpoint: sequence_num } });
        expect(heard.map(({ id }) => id)).toEqual(heard.map((_, index) => index + 1));
        told = heard;
      }
    },
    300_000,
  );
});
