import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { ParleyError } from '../src/domain/errors.js';

export interface WorkspaceRules {
  /** PARLEY_WORKSPACES: a workspace is one of these folders or lies below one. */
  allowed: readonly string[];
  /** No workspace may hold it or lie in it: a task could change its own snapshot. */
  dataFolder: string;
}

/** Where a run works: a folder that Parley has made, in its data folder and yet with nothing in it that is Parley's own. */
export const runFolder = ({ dataFolder }: Pick<WorkspaceRules, 'dataFolder'>, runId: string): string =>
  resolve(dataFolder, 'runs', runId);

/** After the name of a folder of a run while it is being made. */
export const unwholeSuffix = '.half';

/**
 * Where a workspace really is, with every link followed (spec 02).
 * @param given what the request names; an absolute path
 * @param ofRun the run whose own folder it may be; no request can say so
 * @throws ParleyError `invalid_request`, `ESEC` when the operator does not allow it; the message says what would be right
 */
export const resolveWorkspace = async (
  given: string,
  { allowed, dataFolder }: WorkspaceRules,
  ofRun?: string,
): Promise<string> => {
  const refuse = (what: string, code: 'invalid_request' | 'ESEC' = 'invalid_request'): ParleyError =>
    new ParleyError(code, `workspace ${JSON.stringify(given)} ${what}`);
  if (!isAbsolute(given) || given.includes('\0'))
    throw refuse('is no absolute path; give the folder as the worker sees it, such as "/srv/projects/shop".');
  let path: string;
  try {
    path = await realpath(given);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be looked at (${code})`;
    throw refuse(`${why} on this worker's machine; create the folder first, or name one that is there.`);
  }
  if (!(await stat(path)).isDirectory()) throw refuse('is no folder; name the folder that the tasks work in.');
  if (ofRun !== undefined && given === runFolder({ dataFolder }, ofRun)) return path;
  const leads = path === resolve(given) ? '' : ` (it leads to ${path})`;
  const folders = await Promise.all(allowed.map(real));
  if (!folders.some((folder) => holds(folder, path)))
    throw refuse(
      `lies in no folder that the operator allows${leads}. Allowed: ${allowed.join(', ') || 'none'}; ` +
        'to add one, list it in PARLEY_WORKSPACES of the workers.',
      'ESEC',
    );
  if (path === (await real(tmpdir())))
    throw refuse('is shared by every program of the machine; make a folder of its own in it.');
  const data = await real(dataFolder);
  if (holds(data, path) || holds(path, data))
    throw refuse(
      `${holds(data, path) ? 'lies in' : 'holds'} the data folder ${dataFolder}${leads}, where its own snapshots are kept; ` +
        'name another folder, or set PARLEY_DATA of the workers to one outside of it.',
    );
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    const user = process.geteuid ? ` (user id ${process.geteuid()})` : '';
    throw refuse(`cannot be read and written by the worker${user}; give that user the right to.`);
  }
  return path;
};

/** As realpath, and what does not exist yet is taken as it is written below what does. */
const real = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await real(parent), relative(parent, path));
  }
};

/** The folder itself, and everything below it. */
const holds = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith('../'));
};
