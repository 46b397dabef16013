import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutSourceMap } from '../../temporal/built-bundle.js';
import { bundleWorkflows } from '../../temporal/bundle.js';
import { findServerProgram, waysToServer } from '../../temporal/find-server.js';
import { startEmbeddedServer } from '../../temporal/server.js';

/**
 * One server in memory and one workflow bundle for the whole run. The test processes inherit TEST_TEMPORAL_ADDRESS and
 * TEST_WORKFLOW_BUNDLE; each test file uses a task queue of its own.
 */
export default async function globalSetup(): Promise<void> {
  const found = findServerProgram();
  if (found === null) throw new Error(`${waysToServer()}\nThen run the tests through npm test, which looks for it.`);
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const server = await startEmbeddedServer({ executable: found.executable, uiPort: null });
  Object.assign(globalThis, { parleyTest: { stop: server.stop, folder } });
  process.env['TEST_TEMPORAL_ADDRESS'] = server.address;
  process.env['TEST_TEMPORAL_CLI'] = found.executable;
  const bundle = join(folder, 'workflow-bundle.cjs');
  try {
    // Dozens of workers read it; where one of them names a line, it is a line of the bundle.
    await writeFile(bundle, withoutSourceMap(await bundleWorkflows()));
    process.env['TEST_WORKFLOW_BUNDLE'] = bundle;
  } catch (error) {
    // Only the tests with a worker need it, and those fail without it; the pure ones still say what they know.
    console.error('The workflows do not bundle; every test with a worker will fail.', error);
  }
}
