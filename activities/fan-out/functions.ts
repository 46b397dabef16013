import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ParleyError } from '../../src/domain/errors.js';

/** What `custom` calls: every answer that takes part, in the order of completion. */
export type FanInFunction = (results: { task_id: string; agent_id: string; value: unknown }[]) => unknown;

const modules = /\.(m?js)$/;

/**
 * A function of the operator's (spec 03 `custom`): an export of a module in PARLEY_FUNCTIONS.
 * @throws ParleyError invalid_request naming those that are there
 */
export const findFunction = async (folder: string | null, name: string): Promise<FanInFunction> => {
  const known: string[] = [];
  const files = folder === null ? [] : (await readdir(folder)).filter((file) => modules.test(file)).toSorted();
  for (const file of files) {
    const exported = (await import(pathToFileURL(join(folder ?? '', file)).href)) as Record<string, unknown>;
    const found = Object.hasOwn(exported, name) ? exported[name] : undefined;
    if (typeof found === 'function') return found as FanInFunction;
    known.push(...Object.keys(exported));
  }
  throw new ParleyError(
    'invalid_request',
    `no function ${name} is registered with this worker; ${
      folder === null
        ? 'set PARLEY_FUNCTIONS to a folder of modules that export it'
        : `the modules in ${folder} export ${known.join(', ') || 'nothing'}`
    }`,
  );
};
