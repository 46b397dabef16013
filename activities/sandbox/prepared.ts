import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import type { SandboxBackend } from '../../src/contracts/execution.js';
import { firstProgram, placesOnPath } from '../program-path.js';
import type { Backend, Means } from './backend.js';
import { createBubblewrap } from './bubblewrap.js';
import type { SandboxSettings } from './choice.js';
import { findControlGroups } from './control-groups.js';
import { createDocker } from './docker.js';
import { hostView } from './host-view.js';
import { createNone } from './none.js';
import { removeLeftScratch } from './scratch.js';
import { createUnshare } from './unshare.js';

export interface CreateSandboxOptions {
  settings: SandboxSettings;
  /** The worker's environment: PATH, HOME and LANG, and where docker finds its engine. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Path of `bwrap`; null: not found. */
  bubblewrap: string | null;
  /** Files and folders that no command may see wherever they lie: the data folder, files with secrets. */
  hidden: readonly string[];
  /** Folders that PATH does not bring into sight; left out: those of the system that hold no programs. */
  privateFolders?: readonly string[];
}

export interface Prepared {
  means: Means;
  backends: Record<SandboxBackend, Backend>;
}

/** Looks at what this machine has, and removes what workers left that were killed. */
export const prepareBackends = async (options: CreateSandboxOptions): Promise<Prepared> => {
  const { settings, environment, bubblewrap, hidden } = options;
  const path = environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  const language = environment['LANG'] || 'C.UTF-8';
  const find = (name: string): Promise<string | null> => firstProgram(placesOnPath(name, path));
  await removeLeftScratch();
  const means: Means = {
    groups: await findControlGroups(),
    setpriv: await find('setpriv'),
    isRoot: process.getuid?.() === 0,
  };
  const view = hostView({
    ...{ path, hidden, node: process.execPath, home: environment['HOME'] || homedir() },
    readFolders: settings.readFolders,
    ...(options.privateFolders && { privateFolders: options.privateFolders }),
  });
  const absent = settings.readFolders.filter((folder) => !existsSync(folder));
  const user = { uid: process.getuid?.() ?? 1_000, gid: process.getgid?.() ?? 1_000 };
  return {
    means,
    backends: {
      bubblewrap: createBubblewrap({ program: bubblewrap, means, view, hidden, absent, language }),
      docker: createDocker({ program: await find('docker'), image: settings.image, language, user, environment }),
      unshare: createUnshare({ program: await find('unshare'), means, path, language }),
      none: createNone({ means, path, language }),
    },
  };
};
