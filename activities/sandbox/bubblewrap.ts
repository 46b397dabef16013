import { ParleyError } from '../../src/domain/errors.js';
import { type Backend, firstData, type Means } from './backend.js';
import { bubblewrapArgs, commonFiles, sandboxHome } from './bubblewrap-args.js';
import { type HostView, publicPart } from './host-view.js';
import { howToInstall } from './how-to-install.js';
import { beginning, enforcedLimits } from './limits.js';
import { saidBy } from './said-by.js';
import { environmentFile, shell } from './scripts.js';
import { systemCallFilter } from './seccomp.js';

/** In use here and not in every version; all are in 0.6. */
const neededOptions = ['--size', '--perms', '--clearenv', '--as-pid-1', '--remount-ro', '--die-with-parent'];
const environmentPath = '/etc/parley-environment';

export interface BubblewrapOptions {
  /** Path of `bwrap`; null: not found. */
  program: string | null;
  means: Means;
  view: HostView;
  /** See `BubblewrapLayout`. */
  hidden: readonly string[];
  /** Folders that the operator shows and that are not there. */
  absent: readonly string[];
  language: string;
}

/** Namespaces of its own for everything, through bubblewrap; the default. */
export const createBubblewrap = (options: BubblewrapOptions): Backend => {
  const { means, view, hidden, absent, language } = options;
  const program = options.program ?? 'bwrap';
  const help = options.program === null ? Promise.resolve('') : saidBy(program, '--help').then((said) => said ?? '');
  const { setpriv } = means;
  const filter = systemCallFilter();
  return {
    name: 'bubblewrap',
    version: async () => /[\d.]+/.exec((await saidBy(program, '--version')) ?? '')?.[0] ?? null,
    missing: async () => {
      if (process.platform !== 'linux') return 'bubblewrap runs on Linux alone; use docker';
      if (options.program === null) return `bwrap was not found; ${await howToInstall('bubblewrap')}`;
      if (absent.length > 0) return `PARLEY_SANDBOX_READ names ${absent.join(', ')}, which is not there; correct it`;
      const known = await help;
      const lacking = neededOptions.filter((option) => !known.includes(option));
      return lacking.length === 0
        ? null
        : `${program} is older than 0.6 (no ${lacking.join(', ')}); install a newer one`;
    },
    advice: (said) =>
      /uid map|namespace|Operation not permitted/i.test(said)
        ? 'this system keeps namespaces from ordinary programs: in a container, start it with --security-opt for each of seccomp=unconfined, apparmor=unconfined, systempaths=unconfined; on Ubuntu 24.04 or later allow bwrap in AppArmor or set kernel.apparmor_restrict_unprivileged_userns=0; elsewhere set user.max_user_namespaces above 0'
        : '',
    enforces: (network) => ({
      ...{ backend: 'bubblewrap', network: !network, filesystem: true, user: true, environment: true, tree: true },
      ...enforcedLimits(means),
    }),
    launch: async (input) => {
      const { command, runAs } = input;
      if (runAs !== null && setpriv === null)
        throw new ParleyError(
          'unavailable',
          `the workspace belongs to user ${runAs.uid} and the worker is root: setpriv is needed to run as that user; ${await howToInstall('util-linux')}`,
        );
      const environment = { PATH: view.path, HOME: sandboxHome, LANG: language, TMPDIR: '/tmp', ...command.env };
      const files = { ...commonFiles, [environmentPath]: environmentFile(environment) };
      const data = [...Object.values(files), ...(filter === null ? [] : [filter])];
      const layout = {
        view: runAs === null ? view : publicPart(view),
        ...{ hidden, files: Object.keys(files), filter: filter && firstData + data.length - 1 },
        locksNamespaces: (await help).includes('--disable-userns'),
      };
      const sandboxed = [
        ...bubblewrapArgs(layout, input),
        shell,
        ...beginning({ ...means, isRoot: means.isRoot && runAs === null }, command.limits, environmentPath),
        ...command.argv,
      ];
      const asOwner = runAs && [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups', '--', program];
      return {
        ...(asOwner && setpriv !== null
          ? { program: setpriv, args: [...asOwner, ...sandboxed] }
          : { program, args: sandboxed }),
        env: { PATH: view.path },
        cwd: '/',
        files: {},
        data,
        tellsBegin: true,
        leadsGroup: false,
      };
    },
  };
};
