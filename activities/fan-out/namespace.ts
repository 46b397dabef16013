import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import type { InputArtifact } from '../../src/contracts/fan-out.js';
import { type SessionContext, sessionContextSchema } from '../../src/contracts/session-context.js';
import { ParleyError } from '../../src/domain/errors.js';
import { parseWhole } from '../../src/parse.js';
import { errorCode, isFileError } from '../snapshot/folder.js';

/** Whose folder it is (spec 03 "Isolation"). */
export interface NamespaceName {
  workId: string;
  agentId: string;
  taskId: string;
}

const contextFile = 'session_context.json';
const maxContextBytes = 1_000_000;

export const namespaceFolder = (root: string, { workId, agentId, taskId }: NamespaceName): string =>
  join(root, workId, agentId, taskId);

const isBelow = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== '' && !isAbsolute(way) && way !== '..' && !way.startsWith('../');
};

const refuse = (message: string): ParleyError => new ParleyError('ESEC', message);

/** The first of `folders` that has the file; it has to lie in it whatever links there are. */
const findInput = async (path: string, folders: readonly string[]): Promise<string> => {
  for (const folder of folders) {
    const base = await realpath(folder).catch(() => null);
    const found = base === null ? null : await realpath(join(base, path)).catch(() => null);
    if (base === null || found === null) continue;
    if (!isBelow(base, found))
      throw refuse(`input ${JSON.stringify(path)} leads out of ${folder} by a link; name a file in it`);
    if ((await lstat(found)).isFile()) return found;
    throw new ParleyError('invalid_request', `input ${JSON.stringify(path)} is no file; name a file`);
  }
  throw new ParleyError(
    'invalid_request',
    `input ${JSON.stringify(path)} is in none of the folders of PARLEY_WORKSPACES (${folders.join(', ')}); put it there, or give it with its content`,
  );
};

/** A copy of its own, of which nobody may write: a hard link would share what is in it. */
const giveInput = async (input: InputArtifact, into: string, folders: readonly string[]): Promise<void> => {
  const target = join(into, typeof input === 'string' ? input : input.path);
  await mkdir(dirname(target), { recursive: true });
  if (typeof input === 'string') await copyFile(await findInput(input, folders), target, constants.COPYFILE_EXCL);
  else await writeFile(target, input.content, { flag: 'wx' });
  await chmod(target, 0o444);
};

/**
 * Makes a worker's folder anew: session_context.json, inputs/, output/ and scratch/. What a dead attempt left is gone.
 * @throws ParleyError ESEC, invalid_request for an input that is not there or lies elsewhere
 */
export const spawnNamespace = async (
  folder: string,
  context: SessionContext,
  inputs: readonly InputArtifact[],
  inputFolders: readonly string[],
): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  for (const part of ['inputs', 'output', 'scratch']) await mkdir(join(folder, part), { recursive: true, mode: 0o700 });
  for (const input of inputs) await giveInput(input, join(folder, 'inputs'), inputFolders);
  await writeFile(join(folder, contextFile), `${JSON.stringify(context, null, 2)}\n`, { mode: 0o600 });
};

/** Links of both kinds in a folder: what they lead to is not the worker's own. */
const linksIn = async (folder: string, at = ''): Promise<string[]> => {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
    const path = join(at, entry.name);
    if (entry.isDirectory()) found.push(...(await linksIn(folder, path)));
    else if (entry.isSymbolicLink()) found.push(`${path} is a symbolic link`);
    else if (!entry.isFile()) found.push(`${path} is no file`);
    else if ((await lstat(join(folder, path))).nlink > 1) found.push(`${path} is a hard link`);
  }
  return found;
};

/**
 * Checks what a worker hands back: output/ holds its own files and no links, and session_context.json is one of spec 10 whose
 * artifact_refs stay in the namespace.
 * @throws ParleyError ESEC, EPROTO naming every fault
 */
export const checkHandOver = async (folder: string): Promise<void> => {
  const output = await lstat(join(folder, 'output')).catch(() => null);
  if (!output?.isDirectory()) throw refuse('output/ of a worker is gone, or no folder any more; leave it in place.');
  const links = await linksIn(join(folder, 'output')).catch((error: unknown) => {
    if (!isFileError(error)) throw error;
    const why = `output/ of a worker cannot be looked through (${errorCode(error)})`;
    throw refuse(`${why}; leave folders that may be read, and paths that are not too long.`);
  });
  if (links.length > 0) {
    throw refuse(
      `output/ of a worker holds its own files only; ${links.slice(0, 20).join('; ')}. Copy what belongs there.`,
    );
  }
  const file = join(folder, contextFile);
  const kind = await lstat(file).catch(() => null);
  if (kind === null || !kind.isFile() || kind.nlink > 1 || kind.size > maxContextBytes) {
    const what =
      kind === null ? 'is gone' : kind.isFile() && kind.nlink === 1 ? 'is too large' : 'is a link or no file';
    throw new ParleyError('EPROTO', `${contextFile} ${what}; leave it in place, and write findings into it`);
  }
  const parsed = parseWhole(sessionContextSchema, jsonOf(await readFile(file, 'utf8')));
  if (!parsed.ok) {
    const faults = parsed.faults.map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`);
    throw new ParleyError('EPROTO', `${contextFile} is not as it has to be at a hand-over: ${faults.join('; ')}`);
  }
  const leaving = parsed.value.artifact_refs.filter((path) => isAbsolute(path) || !isBelow(folder, join(folder, path)));
  if (leaving.length > 0) {
    throw refuse(
      `artifact_refs of ${contextFile} leave the namespace: ${leaving.slice(0, 20).join(', ')}; name files in it by relative paths`,
    );
  }
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // A text is no object: the schema says so in its own words.
  }
};
