import { chown, stat } from 'node:fs/promises';
import { ParleyError } from '../../src/domain/errors.js';
import type { Backend, LaunchInput, Means } from './backend.js';
import type { RunningCommand, SandboxCommand } from './port.js';
import { startCommand } from './running.js';
import { makeScratch } from './scratch.js';
import { dropSetuid, folderIn, realWorkspace } from './workspace.js';

export interface StartInput {
  backend: Backend;
  /** null: an empty folder of its own. */
  workspace: string | null;
  network: boolean;
  command: SandboxCommand;
  signal: AbortSignal;
  onErrors: (piece: Buffer) => void;
}

/** Whom a folder of its own is given to where the worker is root. */
const nobody = { uid: 65_534, gid: 65_534 };

/** Starts a command in a backend that was chosen. When it has ended, so has all that was made for it. */
export const start = async (means: Means, input: StartInput): Promise<RunningCommand> => {
  const { backend, network, command, signal, onErrors } = input;
  const leftovers: (() => Promise<void>)[] = [];
  const cleanUp = async (): Promise<void> => {
    for (const remove of leftovers.splice(0).toReversed()) await remove();
  };
  const scratchFolder = async (): Promise<string> => {
    const { folder, remove } = await makeScratch();
    leftovers.push(remove);
    return folder;
  };
  try {
    signal.throwIfAborted();
    refuseUnusable(command);
    const isOwn = input.workspace === null;
    const workspace = input.workspace === null ? await scratchFolder() : await realWorkspace(input.workspace);
    if (isOwn && means.isRoot && means.setpriv !== null) await chown(workspace, nobody.uid, nobody.gid);
    const runAs = await ownerToBe(workspace, means);
    if (!isOwn && backend.enforces(network).filesystem) leftovers.push(() => dropSetuid(workspace));
    const cwd = await folderIn(workspace, command.cwd);
    const scratch = await scratchFolder();
    const launchInput: LaunchInput = { workspace, cwd, command, network, scratch, runAs };
    const launch = await backend.launch(launchInput);
    const group = backend.name === 'docker' ? null : ((await means.groups?.create(command.limits)) ?? null);
    if (group !== null) leftovers.push(() => group.end());
    const enforced = backend.enforces(network);
    const running = await startCommand({ launch, command, enforced, group, scratch, signal, onErrors });
    const ended = followedBy(running.ended, cleanUp);
    ended.catch(() => undefined); // for who waits for the output alone
    return { stdout: running.stdout, ended };
  } catch (error) {
    await cleanUp();
    throw error;
  }
};

const followedBy = async <T>(work: Promise<T>, then: () => Promise<void>): Promise<T> => {
  try {
    return await work;
  } finally {
    await then();
  }
};

/** What no program can be given, whatever the schema of a request lets through. */
const refuseUnusable = ({ argv, env }: SandboxCommand): void => {
  const faults = [
    ...(argv.length === 0 || argv[0] === '' ? ['argv names no program'] : []),
    ...(argv.some((word) => word.includes('\0')) ? ['argv holds the character NUL'] : []),
    ...Object.entries(env).flatMap(([name, value]) => {
      const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
      return isName && !value.includes('\0') ? [] : [`env ${JSON.stringify(name)} is no variable, or holds NUL`];
    }),
  ];
  if (faults.length > 0)
    throw new ParleyError('invalid_request', `a command cannot be run: ${faults.join('; ')}; correct it`);
};

/** A worker that is root acts as the owner of the workspace: what is made in it then belongs to that user. */
const ownerToBe = async (workspace: string, { isRoot }: Means): Promise<LaunchInput['runAs']> => {
  const { uid, gid } = await stat(workspace);
  return isRoot && uid !== 0 ? { uid, gid } : null;
};
