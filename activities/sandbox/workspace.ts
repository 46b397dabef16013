import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ParleyError } from '../../src/domain/errors.js';
import { isInside } from './host-view.js';
import { inTurn } from './starts.js';

/** Folders of the system: a workspace may lie in some of them, but is none of them and holds none. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/etc', '/var', '/boot', '/root', '/home', '/run', '/tmp'];
const kernelFolders = ['/proc', '/sys', '/dev'];

const refuse = (message: string): never => {
  throw new ParleyError('invalid_request', message);
};

/**
 * The folder that a workspace really is. Whose workspaces may lie where is decided before; this keeps the system out of
 * them whoever decided.
 * @throws ParleyError `invalid_request` naming what is wrong with it
 */
export const realWorkspace = async (workspace: string): Promise<string> => {
  const real = await realpath(workspace).catch(() => null);
  if (real === null || !(await stat(real)).isDirectory())
    return refuse(`workspace ${workspace} is not a folder that the worker sees; give the absolute path of one`);
  const within = [...systemFolders, ...kernelFolders].find((folder) => isInside(folder, real));
  const kernel = kernelFolders.find((folder) => isInside(real, folder));
  if (real === '/' || within !== undefined || kernel !== undefined)
    return refuse(`workspace ${workspace} is a folder of the system; give one that holds the work alone`);
  return real;
};

/** @throws ParleyError `invalid_request` when it is not there, or leads out of the workspace by a link */
export const folderIn = async (workspace: string, cwd: string): Promise<string> => {
  const real = await realpath(join(workspace, cwd)).catch(() => null);
  if (real === null || !isInside(real, workspace) || !(await stat(real)).isDirectory())
    return refuse(`cwd ${JSON.stringify(cwd)} is not a folder in the workspace; it is relative to it, "." by default`);
  return real;
};

/**
 * Takes the setuid and setgid bits off what the owner of a workspace has in it. In the sandbox they have no effect; outside,
 * whoever runs such a file would become its owner.
 */
export const dropSetuid = async (workspace: string): Promise<void> => {
  const { uid } = await stat(workspace);
  const isMarked = ['-type', 'f', '-user', `${uid}`, '(', '-perm', '-4000', '-o', '-perm', '-2000', ')'];
  const args = [workspace, '-xdev', ...isMarked, '-exec', 'chmod', 'ug-s', '{}', '+'];
  const { ended } = await inTurn(async () => ({ ended: promisify(execFile)('find', args) }));
  await ended;
};
