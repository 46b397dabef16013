import { join } from 'node:path';
import type { Backend, Means } from './backend.js';
import { howToInstall } from './how-to-install.js';
import { beginning, enforcedLimits } from './limits.js';
import { saidBy } from './said-by.js';
import { environmentFile, shell } from './scripts.js';

export interface UnshareOptions {
  /** Path of `unshare`; null: not found. */
  program: string | null;
  means: Means;
  /** The worker's PATH and LANG. */
  path: string;
  language: string;
}

/** Whoever the worker is outside; not root, or the command would have capabilities inside. */
const user = 1_000;

/** Own processes and no network, through util-linux; the host's files stay open to it. By name alone. */
export const createUnshare = ({ program, means, path, language }: UnshareOptions): Backend => ({
  name: 'unshare',
  version: async () => /[\d.]+/.exec((await saidBy(program ?? 'unshare', '--version')) ?? '')?.[0] ?? null,
  missing: async () => {
    if (process.platform !== 'linux') return 'unshare runs on Linux alone; use docker';
    const absent = program === null ? 'unshare' : means.setpriv === null ? 'setpriv' : null;
    return absent === null ? null : `${absent} was not found; ${await howToInstall('util-linux')}`;
  },
  advice: () => 'this system keeps namespaces from ordinary programs; set user.max_user_namespaces above 0',
  enforces: (network) => ({
    ...{ backend: 'unshare', network: !network, filesystem: false, environment: true, tree: true },
    user: !means.isRoot, // the files of root stay its own
    ...enforcedLimits(means),
  }),
  launch: ({ command, cwd, network, scratch }) => {
    const environment = { PATH: path, HOME: scratch, LANG: language, TMPDIR: scratch, ...command.env };
    return Promise.resolve({
      program: means.setpriv ?? 'setpriv',
      args: [
        // unshare takes the command with it, and has to end with the worker.
        ...['--pdeathsig', 'KILL', '--', program ?? 'unshare', `--map-user=${user}`, `--map-group=${user}`],
        ...['--pid', '--kill-child', '--mount-proc', '--ipc', '--uts', ...(network ? [] : ['--net']), '--'],
        shell,
        ...beginning(means, command.limits, join(scratch, 'environment')),
        ...command.argv,
      ],
      env: { PATH: path },
      cwd,
      files: { environment: environmentFile(environment) },
      data: [],
      tellsBegin: true,
      leadsGroup: false,
    });
  },
});
