import { createHash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { FileExpectation } from '../../src/contracts/plan.js';
import { errorCode, Folder, isFileError, toName } from '../snapshot/folder.js';
import { createPace, type Pace } from '../snapshot/pace.js';

const blockBytes = 1024 * 1024;

/**
 * The assertions about files that do not hold, a sentence each (spec 02 "Validation"). Links are followed inside of the
 * workspace, and what they reach outside of it counts as not there.
 */
export const unmetExpectations = async (
  workspace: string,
  expectations: readonly FileExpectation[],
  signal: AbortSignal,
): Promise<string[]> => {
  const pace = createPace(signal);
  const unmet: string[] = [];
  for (const expectation of expectations) {
    const wanted = typeof expectation === 'string' ? { path: expectation, exists: true } : expectation;
    try {
      unmet.push(...(await faultsOf(workspace, wanted, pace)));
    } catch (error) {
      if (!isFileError(error)) throw error;
      unmet.push(`${wanted.path} cannot be looked at: ${(error as Error).message.split(',')[0]}.`);
    }
  }
  return unmet;
};

type Wanted = Exclude<FileExpectation, string>;

const faultsOf = async (workspace: string, wanted: Wanted, pace: Pace): Promise<string[]> => {
  const { path } = wanted;
  if (!wanted.exists) return (await isAbsent(workspace, path)) ? [] : [`${path} is there, and should be absent.`];
  const real = await reach(join(workspace, path));
  if (real === null) return [`${path} is not there.`];
  if (!isInside(workspace, real)) return [`${path} is a way out of the workspace, to ${real}.`];
  if (wanted.sha256 === undefined && wanted.contains === undefined) return [];
  const found = await readFile(workspace, real, wanted.contains ?? null, pace);
  if (found === null) return [`${path} is no file.`];
  const faults: string[] = [];
  if (wanted.sha256 !== undefined && found.sha256 !== wanted.sha256)
    faults.push(`${path} has the sha256 ${found.sha256}, not ${wanted.sha256}.`);
  if (!found.contains) faults.push(`${path} does not contain ${JSON.stringify(excerpt(wanted.contains ?? ''))}.`);
  return faults;
};

/** No name there, a link to nothing being one. */
const isAbsent = async (workspace: string, path: string): Promise<boolean> => {
  const parent = await reach(join(workspace, dirname(path)));
  if (parent === null || !isInside(workspace, parent)) return true;
  try {
    await lstat(join(parent, basename(path)));
    return false;
  } catch (error) {
    if (isMissing(error)) return true;
    throw error;
  }
};

/** Where a path leads, or null when to nothing. */
const reach = async (path: string): Promise<string | null> => {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'ELOOP') return null;
    throw error;
  }
};

/** Goes step by step and follows no link, since where the path leads may have changed. @returns null for what is no file */
const readFile = async (
  workspace: string,
  real: string,
  text: string | null,
  pace: Pace,
): Promise<{ sha256: string; contains: boolean } | null> => {
  const steps = toName(relative(workspace, real)).split('/');
  const name = steps.pop()!;
  let folder = Folder.open(workspace);
  for (const step of steps) {
    const outer = folder;
    try {
      folder = outer.enter(step);
    } finally {
      outer.close();
    }
  }
  let descriptor: number;
  try {
    if (!folder.look(name)?.isFile()) return null;
    descriptor = folder.openFile(name);
  } finally {
    folder.close();
  }
  try {
    return fstatSync(descriptor).isFile() ? await digest(descriptor, text, pace) : null;
  } finally {
    closeSync(descriptor);
  }
};

const digest = async (descriptor: number, text: string | null, pace: Pace) => {
  const needle = Buffer.from(text ?? '');
  const hash = createHash('sha256');
  let contains = text === null;
  // What was read last, so that a text on the border of two blocks is found.
  let window = Buffer.alloc(0);
  const block = Buffer.allocUnsafe(blockBytes);
  for (let length = -1; length !== 0; ) {
    await pace();
    length = readSync(descriptor, block, 0, blockBytes, null);
    hash.update(block.subarray(0, length));
    if (contains) continue;
    window = Buffer.concat([
      window.subarray(Math.max(0, window.length - needle.length + 1)),
      block.subarray(0, length),
    ]);
    contains = window.includes(needle);
  }
  return { sha256: hash.digest('hex'), contains };
};

const isInside = (workspace: string, path: string): boolean => path === workspace || path.startsWith(`${workspace}/`);
const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
const excerpt = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
