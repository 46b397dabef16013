import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import { aFanOut, aTask, failing, scripted } from '../support/fan-out-bodies.js';
import { testWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';
import { runCli } from '../support/run-cli.js';

let product: Product;
const folder = mkdtempSync(join(tmpdir(), 'parley-cli-'));
beforeAll(async () => {
  product = await startProduct();
});
afterAll(async () => {
  await product?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const parley = (...argv: string[]) => runCli({ PARLEY_URL: product.url }, argv);
const started = async (over: Parameters<typeof aFanOut>[0]): Promise<string> => {
  const file = join(folder, 'body.json');
  writeFileSync(file, JSON.stringify(aFanOut(over)));
  const { code, out } = await parley('fan-out', 'start', file);
  expect(code).toBe(0);
  return out.trim();
};
const said = (id: string, answer: unknown) => aTask(id, { adapter: scripted(answer) });
const broken = aTask('t3', { adapter: failing('no network') });
/** One at a time, so that the lines have one order. */
const three = { max_concurrent: 1, tasks: [said('t1', { x: 1 }), said('t2', { x: 2 }), broken] };

describe('parley fan-out', () => {
  test('starts one, follows it task by task, and ends with the combined value', async () => {
    const quality = { critic: { adapter: scripted('{"score":0.5}') } };
    const id = await started({ fan_out: three, fan_in: { quality } });
    const { code, out } = await parley('fan-out', 'follow', id);
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      '  ▸ t1 (a) RUNNING',
      '  ✓ t1 (a) COMPLETED',
      '  ▸ t2 (a) RUNNING',
      '  ✓ t2 (a) COMPLETED',
      '  ▸ t3 (a) RUNNING',
      '  ✗ t3 (a) FAILED: no network',
      '= BARRIER   passed: 2 of 3 completed (settled)',
      '★ RESULT    by merge, PARTIAL: 2 answers',
      '            failed: t3',
      '            conflict at /x: t1 stands (first_wins)',
      '            quality 50 %, below 80 %',
      '{"x":1}',
    ]);
  });

  test('shows how it stands, with the reason of each task and of its failure', async () => {
    const id = await started({ barrier: { partial_mode: false }, fan_out: three });
    expect((await parley('fan-out', 'follow', id)).code).toBe(1);
    const { code, out } = await parley('fan-out', 'show', id);
    expect(code).toBe(1);
    const lines = out.split('\n');
    expect(lines.slice(0, 4)).toEqual([
      `${id}  FAILED  (failed)  2 of 3 completed, 1 failed`,
      '  ✓ t1 (a) COMPLETED: {"x":1}',
      '  ✓ t2 (a) COMPLETED: {"x":2}',
      '  ✗ t3 (a) FAILED: no network',
    ]);
    expect(lines).toContainEqual(expect.stringMatching(/^error: EAGENTDOWN: 2 of 3 tasks completed; needed is all/));
  });

  test('prints its status as it came over the wire with --json', async () => {
    const id = await started({ fan_out: { tasks: [said('t1', { x: 1 })] } });
    await product.fanOuts.until(id, ({ lifecycle }) => lifecycle === 'completed');
    const { code, out } = await parley('fan-out', 'show', id, '--json');
    expect([code, JSON.parse(out) as FanOutStatus]).toEqual([0, await product.fanOuts.status(id)]);
  });

  testWithSandbox('names the files that a worker left, and those that were not kept', async () => {
    const script = 'mkdir output/deep; touch output/deep/a.txt; for n in $(seq 100 200); do touch output/$n; done';
    const task = aTask('t1', { adapter: { kind: 'command', argv: ['sh', '-c', script] } });
    const id = await started({ fan_out: { tasks: [task] } });
    await product.fanOuts.until(id, ({ lifecycle }) => lifecycle === 'completed');
    const { out } = await parley('fan-out', 'show', id);
    expect(out).toMatch(/^ {12}files: output\/100, output\/101, .* and 80 more$/m);
    expect(out).toContain('            not kept: 2 files beyond the first 100');
  });

  test('cancels it, and says so', async () => {
    const id = await started({ fan_out: { tasks: [aTask('t1', { adapter: scripted(1, 600_000) })] } });
    await product.fanOuts.until(id, ({ tasks }) => tasks[0]?.state === 'RUNNING');
    expect((await parley('fan-out', 'cancel', id)).code).toBe(0);
    const { out } = await parley('fan-out', 'follow', id);
    expect(out).toContain('⊘ t1 (a) CANCELLED');
    expect(out).toContain(`fan-out ${id} was cancelled`);
  });
});
