import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunWorkspace } from '../src/domain/run/setup.js';
import type { FolderOrigin } from '../src/domain/run/state.js';
import { ParleyError } from '../src/domain/errors.js';
import type { ExecutionPort } from './execution/port.js';
import { runFolder, resolveWorkspace, unwholeSuffix, type WorkspaceRules } from './workspace.js';
import { told } from './told.js';

export interface RunFolderPorts {
  workspaces: WorkspaceRules;
  execution: Pick<ExecutionPort, 'remove'>;
  /** The queue that only workers with this one's folders take from. */
  hostQueue: string;
}

export interface RunFolderInput {
  runId: string;
  workspace: RunWorkspace;
}

export interface PrepareFolderInput extends RunFolderInput {
  /** Of a fork: it begins as a copy of that run's folder. */
  origin?: FolderOrigin;
}

export interface PreparedFolder {
  path: string;
  /** Of the worktree; null: it is none. */
  branch: string | null;
  /** Where git keeps what it knows of the worktree. */
  gitFolder: string | null;
  hostQueue: string;
}

export interface CloseFolderInput extends RunFolderInput {
  gitFolder: string | null;
  /** What the commit says. */
  message: string;
}

const run = promisify(execFile);

/** What to do about what git says most often. */
const ways: readonly [RegExp, string][] = [
  [
    /not a git repository/,
    'Name a git repository as `repo`, or the folder as `path` to work in a copy of it; or make it a repository, and retry.',
  ],
  [/not a valid object name: '?HEAD|invalid reference: HEAD/, 'The repository has no commit yet: make one, and retry.'],
  [
    /is already (checked out|used by worktree) at/,
    'A branch can be worked on at one place at a time: retry when that has ended, or start the run with another branch.',
  ],
];

/**
 * Git as the worker: what a command of the run may have written (hooks, settings, a `.git` that leads elsewhere) is never
 * followed, as it would run outside of the sandbox. @throws ParleyError with what git said
 */
const git = async (args: readonly string[], signal: AbortSignal): Promise<string> => {
  const safe = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'commit.gpgSign=false'];
  const name = 'Parley';
  const email = 'parley@localhost';
  try {
    const { stdout } = await run('git', [...safe, ...args], {
      signal,
      maxBuffer: 64 * 1024 * 1024,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        LC_ALL: 'C',
        GIT_TERMINAL_PROMPT: '0',
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_COMMITTER_NAME: name,
        GIT_COMMITTER_EMAIL: email,
      },
    });
    return stdout;
  } catch (error) {
    if (signal.aborted) throw error;
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new ParleyError('conflict', 'git is not installed on this worker; install it there.');
    const said = stderr
      .replace(/^Preparing worktree .*\n/m, '')
      .trim()
      .slice(-1_000);
    const way = ways.find(([words]) => words.test(said))?.[1];
    throw new ParleyError('conflict', `git ${args.slice(0, 6).join(' ')} failed: ${said}${way ? `\n${way}` : ''}`);
  }
};

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const asItIs = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true } as const;

/** @param from the branch that a new one begins at; null: what is checked out in the repository */
const worktree = async (
  repo: string,
  branch: string,
  from: string | null,
  path: string,
  signal: AbortSignal,
): Promise<string> => {
  if (!(await exists(join(path, '.git')))) {
    await rm(path, { recursive: true, force: true });
    await git(['-C', repo, 'worktree', 'prune'], signal);
    const known = await git(['-C', repo, 'branch', '--list', '--format=%(refname)', branch], signal);
    const at = known.trim() === '' ? ['-b', branch, path, ...(from === null ? [] : [from])] : [path, branch];
    await git(['-C', repo, 'worktree', 'add', ...at], signal);
  }
  const link = (await readFile(join(path, '.git'), 'utf8')).trim();
  return link.replace(/^gitdir: /, '');
};

/**
 * The files as another run's folder has them, committed or not, in place of those of its branch; once. Where that folder has gone
 * its branch has what was committed.
 */
const filled = async (from: string, path: string, gitFolder: string): Promise<void> => {
  const mark = join(gitFolder, 'parley-filled');
  if ((await exists(mark)) || !(await exists(from))) return;
  const files = async (folder: string): Promise<string[]> => (await readdir(folder)).filter((name) => name !== '.git');
  for (const name of await files(path)) await rm(join(path, name), { recursive: true, force: true });
  for (const name of await files(from)) await cp(join(from, name), join(path, name), asItIs);
  await writeFile(mark, '');
};

/** Made beside and moved there: a folder that is there is whole. `from` null: it is empty. */
export const copied = async (from: string | null, path: string): Promise<void> => {
  if (await exists(path)) return;
  const half = path + unwholeSuffix;
  await rm(half, { recursive: true, force: true });
  if (from === null) await mkdir(half, { recursive: true, mode: 0o700 });
  else await cp(from, half, asItIs);
  await rename(half, path);
};

const subjectLength = 72;

/** A first line as short as git shows it; what does not fit follows below. */
const messageOf = (text: string): string[] => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= subjectLength ? ['-m', line] : ['-m', `${line.slice(0, subjectLength - 1)}…`, '-m', text];
};

/** Folders inside the worktree that are repositories of their own: git would look into them. */
const inner = (listed: string): string[] =>
  listed
    .split('\0')
    .filter((line) => line.startsWith('160000 '))
    .map((line) => `:(exclude,top,literal)${line.slice(line.indexOf('\t') + 1)}`);

/**
 * The folder that a run works in (spec 06): a git worktree on its branch, or a copy. Both are safe to repeat. A ParleyError goes
 * to the workflow as it is; anything else is tried again.
 */
export const createRunFolderActivities = ({ workspaces, execution, hostQueue }: RunFolderPorts) => ({
  /** @throws `invalid_request`, `ESEC` where the operator does not allow it, `conflict` with what git said */
  prepareRunFolder: ({ runId, workspace, origin }: PrepareFolderInput): Promise<PreparedFolder> =>
    told(async (signal) => {
      const path = runFolder(workspaces, runId);
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      if (workspace.from === 'repo') {
        const repo = await resolveWorkspace(workspace.repo, workspaces);
        const gitFolder = await worktree(repo, workspace.branch, origin?.branch ?? null, path, signal);
        if (origin) await filled(runFolder(workspaces, origin.runId), path, gitFolder);
        return { path, branch: workspace.branch, gitFolder, hostQueue };
      }
      const source = (): Promise<string> | null =>
        workspace.from === 'copy' ? resolveWorkspace(workspace.path, workspaces) : null;
      await copied(origin ? await folderOf(origin, workspaces) : await source(), path);
      return { path, branch: null, gitFolder: null, hostQueue };
    }),

  /** A worktree's changes are committed on its branch, and the folder goes; a copy stays, as it is all there is. Reports of commands go. */
  closeRunFolder: ({ runId, workspace, gitFolder, message }: CloseFolderInput): Promise<void> =>
    told(async (signal) => {
      const path = runFolder(workspaces, runId);
      await execution.remove(runId);
      if (workspace.from !== 'repo' || gitFolder === null || !(await exists(path))) return;
      // By name, never by what the folder says of itself.
      const at = [`--git-dir=${gitFolder}`, `--work-tree=${path}`];
      const others = inner(await git([...at, 'ls-files', '-s', '-z'], signal));
      await git([...at, 'add', '--all', '--', path, ...others], signal);
      const changed = await git([...at, 'diff', '--cached', '--name-only', '--ignore-submodules=all'], signal);
      if (changed.trim() !== '') await git([...at, 'commit', '--quiet', '--no-verify', ...messageOf(message)], signal);
      await rm(path, { recursive: true, force: true });
      await git(['-C', await resolveWorkspace(workspace.repo, workspaces), 'worktree', 'prune'], signal);
    }),
});

/** @throws `conflict` where it has gone */
const folderOf = async ({ runId }: FolderOrigin, workspaces: WorkspaceRules): Promise<string> => {
  const path = runFolder(workspaces, runId);
  if (await exists(path)) return path;
  throw new ParleyError(
    'conflict',
    `the folder of run ${runId}, which this one was forked from, is not there any more`,
  );
};
