import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Artifact } from '../../src/contracts/artifact.js';
import type { WorkerArtifact } from '../../src/contracts/fan-out-status.js';
import type { LeftFiles } from '../../src/domain/fan-out/effects.js';
import { errorCode, isFileError } from '../snapshot/folder.js';

export interface LeftFilesLimits {
  /** Files that are kept of one worker. */
  maxFiles: number;
  /** Bytes of all of them together. */
  maxBytes: number;
}

/** What stands in a status is short. */
const maxPathLength = 300;
const namedFaults = 5;

/** Names of everything in a folder but its folders, by path, folders of folders included; no link is followed. */
const namesIn = async (folder: string, at: string): Promise<string[]> => {
  const names: string[] = [];
  for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
    const path = join(at, entry.name);
    if (entry.isDirectory()) names.push(...(await namesIn(folder, path)));
    else names.push(path);
  }
  return names;
};

/** Opened so that a link or a pipe that stands in its place is neither followed nor waited for. */
const openFile = async (path: string): Promise<FileHandle | string> => {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await handle.stat();
    if (found.isFile() && found.nlink === 1) return handle;
    await handle.close();
    return found.isFile() ? 'is a hard link' : 'is no file';
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') return 'is a symbolic link';
    if (code === 'ENXIO') return 'is no file';
    if (code === 'ENOENT') return 'is gone';
    if (code === 'EACCES') return 'may not be read';
    throw new Error(`a worker's file could not be opened: ${message}`, { cause: error });
  }
};

const bytesOf = async function* (handle: FileHandle): AsyncGenerator<Uint8Array> {
  for await (const chunk of handle.createReadStream({ autoClose: false })) yield chunk as Buffer;
};

/**
 * Puts what a worker left in output/ of its namespace into the artifact store, by path, as far as the limits go (spec 07
 * "Artifacts"). @returns what was kept, and in words what was not
 */
export const keepLeftFiles = async (
  namespace: string,
  { maxFiles, maxBytes }: LeftFilesLimits,
  put: (content: AsyncIterable<Uint8Array>) => Promise<Artifact>,
): Promise<LeftFiles> => {
  const place = await lstat(join(namespace, 'output')).catch(() => null);
  // A link in its place would lead to files that are not the worker's.
  if (!place?.isDirectory()) return { artifacts: [], cut: 'not kept: output/ is gone, or no folder' };
  let paths: string[];
  try {
    paths = await namesIn(namespace, 'output');
  } catch (error) {
    if (!isFileError(error)) throw error;
    return { artifacts: [], cut: `not kept: output/ cannot be looked through (${errorCode(error)})` };
  }
  const artifacts: WorkerArtifact[] = [];
  const without: string[] = [];
  let bytes = 0;
  let beyond = 0;
  for (const path of paths.toSorted()) {
    if (artifacts.length === maxFiles) {
      beyond += 1;
      continue;
    }
    if (path.length > maxPathLength) {
      without.push(`${path.slice(0, 80)}… has a path of more than ${maxPathLength} characters`);
      continue;
    }
    const handle = await openFile(join(namespace, path));
    if (typeof handle === 'string') {
      without.push(`${path} ${handle}`);
      continue;
    }
    try {
      const { size } = await handle.stat();
      if (bytes + size > maxBytes) {
        without.push(`${path} has ${size} bytes, and the files of a worker may have ${maxBytes} in all`);
        continue;
      }
      const artifact = await put(bytesOf(handle));
      bytes += artifact.size_bytes;
      artifacts.push({ path, ...artifact });
    } finally {
      await handle.close();
    }
  }
  const said = [
    ...without.slice(0, namedFaults),
    ...(without.length > namedFaults ? [`${without.length - namedFaults} more could not be kept`] : []),
    ...(beyond > 0 ? [`${beyond} files beyond the first ${maxFiles}`] : []),
  ];
  return { artifacts, cut: said.length === 0 ? null : `not kept: ${said.join('; ')}` };
};
