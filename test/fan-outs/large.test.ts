import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckpointList } from '../../src/contracts/checkpoint.js';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import { writeEditedBundle } from '../support/edited-bundle.js';
import { aFanOut, aTask, scripted } from '../support/fan-out-bodies.js';
import { type Answer, type Product, startProduct } from '../support/product.js';

const count = 120;
/** Events after which a run goes on in another; a server says so after thousands. */
const border = 150;

const scratch = mkdtempSync(join(tmpdir(), 'parley-large-'));
const before = process.env['TEST_WORKFLOW_BUNDLE'];
let product: Product;
beforeAll(async () => {
  const bundle = join(scratch, 'short.cjs');
  writeEditedBundle(bundle, [{ from: /\.continueAsNewSuggested/, to: `.historyLength > ${border}` }]);
  process.env['TEST_WORKFLOW_BUNDLE'] = bundle;
  product = await startProduct();
});
afterAll(async () => {
  process.env['TEST_WORKFLOW_BUNDLE'] = before;
  await product?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

/** A worker that has to replay thousands of events first may say once that it does not answer now. */
const answered = async (path: string): Promise<Answer> => {
  for (let tries = 1; ; tries += 1) {
    const answer = await product.get(path);
    if (answer.status !== 503 || tries === 10) return answer;
  }
};

describe('a fan-out of many tasks', () => {
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
    expect((await handle.describe()).historyLength).toBeLessThan(2 * border);

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
