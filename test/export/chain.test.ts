import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkExport } from '../../src/contracts/export.js';
import { writeEditedBundle } from '../support/edited-bundle.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';
import { external, says, silent } from '../support/session-bodies.js';

const scratch = mkdtempSync(join(tmpdir(), 'parley-chain-'));
/** Workflows whose runs are short, so that a few posts make a chain of them. */
const bundle = join(scratch, 'short.cjs');
let product: Product;
const before = process.env['TEST_WORKFLOW_BUNDLE'];
beforeAll(async () => {
  writeEditedBundle(bundle, [{ from: /updatesPerRun = 1_?500/, to: 'updatesPerRun = 4' }]);
  process.env['TEST_WORKFLOW_BUNDLE'] = bundle;
  product = await startProduct();
});
afterAll(async () => {
  process.env['TEST_WORKFLOW_BUNDLE'] = before;
  await product?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

describe('an export of work that continued as new', () => {
  test('holds every run, from the first on, and replays over all of them', async () => {
    const lanes = [external('e'), says('a', 'red'), silent('s')];
    const { id, lane_keys } = await product.start({
      prompt: 'Which colour?',
      lanes,
      policy: { early_exit: { enabled: false } },
    });
    const post = async (frame: object): Promise<void> => {
      const authorization = `Bearer ${lane_keys!['e']}`;
      const path = `/v1/sessions/${id}/lanes/e/frames`;
      expect((await product.post(path, { frames: [frame] }, { authorization })).status).toBe(200);
    };
    for (let number = 1; number <= 12; number += 1)
      await post({ type: 'partial', msg_seq: number, text: `${number} ` });
    await post({ type: 'final', msg_seq: 13, text: 'blue' });
    await product.until(id, (status) => status.lanes[0]?.state === 'FINALIZED');
    await product.post(`/v1/sessions/${id}/cancel`);
    const file = join(scratch, 'chain.json');
    const argv = ['export', 'run', id, '--output', file, '--bundle', bundle];
    expect((await runCli({ PARLEY_URL: product.url }, argv)).code).toBe(0);

    const { runs, story, checkpoints, request, outcome } = JSON.parse(readFileSync(file, 'utf8')) as WorkExport;
    expect(runs.length).toBeGreaterThan(2);
    expect(new Set(runs.map((run) => run.temporal_run_id)).size).toBe(runs.length);
    const count = (what: string): number => story.filter((entry) => entry.what === what).length;
    expect([count('started'), count('continued'), count('ended')]).toEqual([1, runs.length - 1, 1]);
    expect(story.filter(({ part }) => part === 'person').map(({ name }) => name)).toEqual(Array(13).fill('frames'));
    expect(checkpoints!.map(({ sequence_num }) => sequence_num)).toEqual(checkpoints!.map((_, index) => index));
    expect([request, outcome]).toMatchObject([{ prompt: 'Which colour?' }, { state: 'CANCELLED' }]);
    expect(await runCli({}, ['replay', file, '--bundle', bundle])).toMatchObject({ code: 0 });
  }, 60_000);
});
