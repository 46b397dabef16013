import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withoutSourceMap } from '../../temporal/built-bundle.js';
import { findServerProgram, waysToServer } from '../../temporal/find-server.js';
import { startEmbeddedServer } from '../../temporal/server.js';

/**
 * One server in memory and one workflow bundle for the whole run. The test processes inherit TEST_TEMPORAL_ADDRESS and
 * TEST_WORKFLOW_BUNDLE; each test file uses a task queue of its own.
 * @param built a bundle of these sources; null: there is none, and one is made (some seconds)
 */
export default async function globalSetup(built: string | null): Promise<void> {
  const found = findServerProgram();
  if (found === null) throw new Error(`${waysToServer()}\nThen run the tests through npm test, which looks for it.`);
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const before = process.env['GOGC'];
  // It keeps all in memory and has enough of it: that it looks for garbage less often leaves the tests more of the processor.
  process.env['GOGC'] = before ?? '300';
  const server = await startEmbeddedServer({ executable: found.executable, uiPort: null });
  if (before === undefined) delete process.env['GOGC'];
  Object.assign(globalThis, { parleyTest: { stop: server.stop, folder } });
  process.env['TEST_TEMPORAL_ADDRESS'] = server.address;
  process.env['TEST_TEMPORAL_CLI'] = found.executable;
  const bundle = join(folder, 'workflow-bundle.cjs');
  try {
    // Dozens of workers read it; where one of them names a line, it is a line of the bundle.
    await writeFile(bundle, withoutSourceMap(built === null ? await makeBundle() : await readFile(built, 'utf8')));
    process.env['TEST_WORKFLOW_BUNDLE'] = bundle;
  } catch (error) {
    // Only the tests with a worker need it, and those fail without it; the pure ones still say what they know.
    console.error('The workflows do not bundle; every test with a worker will fail.', error);
  }
}

/** The bundler is loaded where it is needed. */
const makeBundle = async (): Promise<string> => (await import('../../temporal/bundle.js')).bundleWorkflows();
