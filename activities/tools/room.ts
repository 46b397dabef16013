import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import type { ToolCall } from './port.js';

const isName = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(text);

/**
 * The folder that a call works in: the team's own, else the agent's below the team's in `namespaces`, which is there until what
 * is kept of the team goes.
 */
export const roomOf = async (
  namespaces: string,
  { workId, folderOf, workspace }: Pick<ToolCall, 'workId' | 'folderOf' | 'workspace'>,
): Promise<string> => {
  if (workspace) return workspace.path;
  for (const id of [workId, folderOf])
    if (!isName(id)) throw new ParleyError('invalid_request', `${JSON.stringify(id)} is no id of a team or an agent`);
  const folder = join(namespaces, workId, folderOf);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
};

/** As `roomOf`, for what changes something. @throws ParleyError forbidden where the team's folder is only read */
export const roomToChange = async (namespaces: string, call: ToolCall): Promise<string> => {
  if (call.workspace?.isReadOnly === true)
    throw new ParleyError(
      'forbidden',
      "the team's workspace is read-only: list, read and search in it, and answer in words",
    );
  return await roomOf(namespaces, call);
};
