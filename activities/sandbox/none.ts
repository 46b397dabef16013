import { join } from 'node:path';
import type { Backend, Means } from './backend.js';
import { beginning, enforcedLimits } from './limits.js';
import { environmentFile, shell } from './scripts.js';

export interface NoneOptions {
  means: Means;
  /** The worker's PATH and LANG. */
  path: string;
  language: string;
}

/** No sandbox: limits and a clean environment, all else with the rights of the worker. By name alone. */
export const createNone = ({ means, path, language }: NoneOptions): Backend => ({
  name: 'none',
  version: () => Promise.resolve(null),
  missing: () => Promise.resolve(process.platform === 'win32' ? 'it needs a POSIX system; use docker' : null),
  advice: () => '',
  enforces: () => ({
    ...{ backend: 'none', network: false, filesystem: false, user: false, environment: true },
    ...enforcedLimits(means),
    tree: means.groups !== null,
  }),
  launch: ({ command, cwd, scratch }) => {
    const environment = { PATH: path, HOME: scratch, LANG: language, TMPDIR: scratch, ...command.env };
    return Promise.resolve({
      program: shell,
      args: [...beginning(means, command.limits, join(scratch, 'environment')), ...command.argv],
      env: { PATH: path },
      cwd,
      files: { environment: environmentFile(environment) },
      data: [],
      tellsBegin: true,
      leadsGroup: true,
    });
  },
});
