import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aDebate, proposes, removeWorkspaces, sh } from '../support/debate-bodies.js';
import { describeExports } from '../support/exports.js';
import { aFanOut, aTask, scripted } from '../support/fan-out-bodies.js';
import { startProduct } from '../support/product.js';
import { aRefinement } from '../support/refinement-bodies.js';
import { runCli } from '../support/run-cli.js';
import { says } from '../support/session-bodies.js';

const folder = fileURLToPath(new URL('./exports/', import.meta.url));
/** Where a test ran says nothing. */
const rules = [
  { pattern: '/[^"\\s]*/parley-workspace-[A-Za-z0-9]+', replace: '/workspace' },
  { pattern: '/[^"\\s]*/parley-data-[A-Za-z0-9]+', replace: '/data' },
];

/** One of each kind. PARLEY_RECORD=1 writes them anew, after a change that is meant to alter what happens. */
const record = async (): Promise<void> => {
  const product = await startProduct();
  const scratch = mkdtempSync(join(tmpdir(), 'parley-rules-'));
  try {
    await product.run({
      id: 'exported-session',
      prompt: 'Which colour?',
      lanes: [says('a', 'blue'), says('b', 'red', 1)],
    });
    const gated = { required: true, timeout_ms: 60_000 };
    const solution = [proposes(sh('t', 'echo done > out'))];
    const debate = await product.debates.start({
      ...aDebate({ says: { solution }, approval: gated }),
      id: 'exported-debate',
    });
    const { feedback } = await product.debates.until(debate, ({ waiting }) => waiting?.for === 'person');
    const request_id = feedback.at(-1)!.request.request_id;
    await product.post(`/v1/debates/${debate}/feedback`, { request_id, response: 'approve', provided_by: 'anna' });
    await product.debates.until(debate, ({ lifecycle }) => lifecycle === 'completed');
    const tasks = [aTask('t1', { adapter: scripted({ a: 1 }) }), aTask('t2', { adapter: scripted({ b: 2 }) })];
    const fanOut = await product.fanOuts.run({ ...aFanOut({ fan_out: { tasks } }), id: 'exported-fan-out' } as never);
    const refinement = await product.refinements.run({ ...aRefinement(), id: 'exported-refinement' });
    const redact = join(scratch, 'rules.json');
    writeFileSync(redact, JSON.stringify(rules));
    const bundle = process.env['TEST_WORKFLOW_BUNDLE'] ?? '';
    for (const id of ['exported-session', debate, fanOut.id, refinement.id]) {
      const output = join(folder, `${id.replace('exported-', '')}.json`);
      const argv = ['export', 'run', id, '--output', output, '--redact', redact, '--bundle', bundle];
      const { code, notes } = await runCli({ PARLEY_URL: product.url }, argv);
      if (code !== 0 || notes.includes('change what is decided')) throw new Error(notes);
    }
  } finally {
    await product.stop();
    rmSync(scratch, { recursive: true, force: true });
    removeWorkspaces();
  }
};

if (process.env['PARLEY_RECORD'] === '1') await record();
describeExports(folder);
