import { existsSync, statSync } from 'node:fs';
import { firstData, type LaunchInput } from './backend.js';
import { type HostView, isInside } from './host-view.js';

/** Whoever the worker is outside, inside it is this one, without a capability. */
const user = 1_000;
export const sandboxHome = '/home/parley';

export interface BubblewrapLayout {
  view: HostView;
  /** Laid over with nothing wherever they would be seen, in the workspace too. */
  hidden: readonly string[];
  /** Paths of files that are read from the descriptors from 4 on. */
  files: readonly string[];
  /** The descriptor with the filter of system calls; null: none for this processor. */
  filter: number | null;
  /** Whether this bwrap can forbid further namespaces of users (from 0.8). */
  locksNamespaces: boolean;
}

/** Of every sandbox alike, by path. */
export const commonFiles: Record<string, string> = {
  '/etc/passwd': `parley:x:${user}:${user}::${sandboxHome}:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n`,
  '/etc/group': `parley:x:${user}:\nnogroup:x:65534:\n`,
  '/etc/hosts': '127.0.0.1 localhost sandbox\n::1 localhost\n',
};

/** Arguments of bwrap up to the command; what comes later is laid over what came before. */
export const bubblewrapArgs = (
  { view, hidden, files, filter, locksNamespaces }: BubblewrapLayout,
  { workspace, cwd, network, command }: Pick<LaunchInput, 'workspace' | 'cwd' | 'network' | 'command'>,
): string[] => {
  const privateFolder = (path: string, mode: string): string[] => [
    ...['--perms', mode, '--size', `${command.limits.memory_mb * 1_048_576}`],
    ...['--tmpfs', path],
  ];
  const seen = [...view.shown, workspace];
  const covered = hidden.filter((path) => existsSync(path) && seen.some((shown) => isInside(path, shown)));
  return [
    ...['--unshare-all', '--unshare-user', ...(network ? ['--share-net'] : [])],
    ...(locksNamespaces ? ['--disable-userns'] : []),
    ...(filter === null ? [] : ['--seccomp', `${filter}`]),
    ...['--uid', `${user}`, '--gid', `${user}`, '--hostname', 'sandbox', '--cap-drop', 'ALL'],
    // The shell around the command is process 1: when it ends everything has, and bwrap has seen it.
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--clearenv', '--setenv', 'PATH', view.path],
    // Folders on the way to what is shown would else be made for their owner alone.
    ...['--perms', '0755', '--dir', '/etc', '--perms', '0755', '--dir', '/home'],
    // Before what is shown: some of that may lie below them.
    ...[...privateFolder('/tmp', '1777'), ...privateFolder(sandboxHome, '0700')],
    ...view.shown.flatMap((path) => ['--ro-bind', path, path]),
    ...view.links.flatMap(({ path, target }) => ['--symlink', target, path]),
    // Read-only: a worker that is root could else change the kernel's settings through it.
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...['--dev', '/dev', ...privateFolder('/dev/shm', '1777'), '--remount-ro', '/dev'],
    ...files.flatMap((path, index) => ['--perms', '0644', '--ro-bind-data', `${firstData + index}`, path]),
    ...['--bind', workspace, workspace],
    ...covered.flatMap((path) =>
      statSync(path).isDirectory() ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path],
    ),
    ...['--chdir', cwd, '--remount-ro', '/', '--'],
  ];
};
