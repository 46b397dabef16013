import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import { aFanOut, aTask, scripted } from '../support/fan-out-bodies.js';
import { type Answer, type Product, startProduct } from '../support/product.js';

const count = 1_200;

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

/** A worker that has to replay thousands of events first may say once that it does not answer now. */
const answered = async (path: string): Promise<Answer> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await product.get(path);
    if (answer.status !== 503 || tries === 10) return answer;
  }
};

describe('a fan-out of hundreds of tasks', () => {
  test('goes through its ceiling in several runs, each with a bounded history, and loses nothing', async () => {
    const given = Array.from({ length: count }, (_, index) =>
      aTask(`t${index}`, { adapter: scripted({ [`k${index}`]: index }) }),
    );
    const id = await product.fanOuts.start(aFanOut({ fan_out: { tasks: given } }));
    const handle = product.client.workflow.getHandle(id);
    await handle.result();
    const status: FanOutStatus = (await answered(`/v1/fan-outs/${id}`)).body;
    expect(status.result?.completed).toHaveLength(count);
    expect(status.result?.value).toMatchObject({ k0: 0, [`k${count - 1}`]: count - 1 });
    expect(status).toMatchObject({ dropped_events: 0, barrier: { completed: count, failed: 0 } });
    const { previousRunId, firstId } = await handle.query<{ previousRunId: string | null; firstId: number }, [number]>(
      'events',
      0,
    );
    expect(previousRunId).not.toBeNull();
    expect(firstId).toBeGreaterThan(1);
    expect((await handle.describe()).historyLength).toBeLessThan(10_000);

    // Checkpoints number on over the runs: one before the first step, then one a task at least.
    const path = `/v1/fan-outs/${id}/checkpoints`;
    const listed = await answered(path);
    expect(listed).toMatchObject({ status: 200 });
    const { items }: CheckpointList = listed.body;
    const last = items.at(-1)!;
    expect(last.sequence_num).toBeGreaterThan(count);
    const inspected = await answered(`${path}/${last.sequence_num}`);
    expect(inspected).toMatchObject({ status: 200, body: last });
  }, 240_000);
});
