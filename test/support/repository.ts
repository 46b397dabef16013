import { execFileSync } from 'node:child_process';
import { makeWorkspace } from './debate-bodies.js';

export const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();

/** A git repository with these files in its one commit. */
export const repository = (files: Record<string, string>): string => {
  const folder = makeWorkspace(files);
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '-m', 'first');
  return folder;
};
