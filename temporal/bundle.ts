import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** A module in TypeScript from a checkout, in JavaScript from `dist`: the bundles are the same. */
const sourceOf = (name: string): string => {
  const source = fileURLToPath(new URL(`../${name}.ts`, import.meta.url));
  return existsSync(source) ? source : source.replace(/\.ts$/, '.js');
};

/**
 * Bundles all workflows once, for every worker and replay of this build (about a second).
 * @param workflowsPath those of Parley, unless it is told
 * @returns the code; a Worker takes it as `workflowBundle: { code }` or, written to a file, `{ codePath }`
 */
export async function bundleWorkflows(workflowsPath = sourceOf('workflows/index')): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath: sourceOf('workflows/payload-converter'),
    workflowInterceptorModules: [sourceOf('workflows/interceptors'), sourceOf('workflows/told-calls')],
    preloadModules: [sourceOf('workflows/preloaded')],
    logger: new DefaultLogger('WARN'),
  });
  return code;
}

/** Bundles into `path`; a reader sees the old file or the new one, never a part. */
export async function writeWorkflowBundle(path: string): Promise<void> {
  const code = await bundleWorkflows();
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, code);
  await rename(draft, path);
}
