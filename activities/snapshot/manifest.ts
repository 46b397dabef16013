import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import type { Pace } from './pace.js';

interface Common {
  /** Relative to the workspace, which is the empty path itself; a character is a byte. */
  path: string;
  /** All twelve bits. */
  mode: number;
  user: number;
  group: number;
  modifiedMs: number;
}

/** How a file looked when it was read: as long as it looks the same, its bytes are taken to be the same. */
export interface Seen {
  device: number;
  inode: number;
  size: number;
  modifiedMs: number;
  changedMs: number;
  /** Names that the file had, here and elsewhere. */
  names: number;
  atMs: number;
}

export interface FolderEntry extends Common {
  type: 'folder';
}
export interface FileEntry extends Common {
  type: 'file';
  sha256: string;
  /** Bytes that were read; while another process writes, `seen` may say otherwise. */
  size: number;
  seen: Seen;
  /** Where its bytes begin in the snapshot's pack; marks have none. */
  offset?: number;
}
export interface LinkEntry extends Common {
  type: 'link';
  target: string;
}
/** Known by name and mode only: what it leads to is no content. */
export interface SpecialEntry extends Common {
  type: 'pipe' | 'socket' | 'device';
}
export type Entry = FolderEntry | FileEntry | LinkEntry | SpecialEntry;

/** All that a workspace held at one moment. */
export interface Manifest {
  workspace: string;
  digest: string;
  /** Sorted by path, in the order of bytes. */
  entries: Entry[];
}

/** What an entry is besides its path and its mode; equal for equal bytes, targets and types. */
export const contentOf = (entry: Entry): string => {
  switch (entry.type) {
    case 'file':
      return entry.sha256;
    case 'link':
      return entry.target;
    default:
      return '';
  }
};

export const digestOf = async (entries: readonly Entry[], pace: Pace): Promise<string> => {
  const hash = createHash('sha256');
  for (const entry of entries) {
    await pace();
    hash.update(`${JSON.stringify([entry.path, entry.type, entry.mode, contentOf(entry)])}\n`);
  }
  return hash.digest('hex');
};

export const splitPath = (path: string): [folder: string, name: string] => {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? ['', path] : [path.slice(0, slash), path.slice(slash + 1)];
};

/** Clocks of file systems tick in steps of up to 2 s; a file that changed this shortly before it was read may change unseen. */
const trustedAfterMs = 2_000;

export const isUnchanged = (seen: Seen, stats: Stats): boolean =>
  seen.size === stats.size &&
  seen.inode === stats.ino &&
  seen.device === stats.dev &&
  seen.modifiedMs === stats.mtimeMs &&
  seen.changedMs === stats.ctimeMs &&
  seen.changedMs < seen.atMs - trustedAfterMs;

/** A line for the whole and one for each entry: a file of any length is written and read in pieces. */
export const writeManifest = async (file: string, manifest: Manifest, pace: Pace): Promise<void> => {
  const { entries, ...head } = manifest;
  const handle = await open(file, 'wx', 0o600);
  try {
    let lines = `${JSON.stringify({ ...head, version })}\n`;
    for (const entry of entries) {
      await pace();
      lines += `${JSON.stringify(entry)}\n`;
      if (lines.length < 1_000_000) continue;
      await handle.appendFile(lines);
      lines = '';
    }
    await handle.appendFile(lines);
    await handle.sync();
  } finally {
    await handle.close();
  }
};
const version = 1;

/** @throws the file system's errors, ENOENT among them */
export const readManifest = async (file: string, pace: Pace): Promise<Manifest> => {
  const bytes = await readFile(file);
  const entries: Entry[] = [];
  let head: Omit<Manifest, 'entries'> | null = null;
  for (let from = 0, to = bytes.indexOf(10); to >= 0; from = to + 1, to = bytes.indexOf(10, from)) {
    await pace();
    const line = bytes.toString('utf8', from, to);
    if (head === null) head = JSON.parse(line) as Omit<Manifest, 'entries'>;
    else entries.push(JSON.parse(line) as Entry);
  }
  if (head === null) throw new Error(`${file} is empty`);
  return { workspace: head.workspace, digest: head.digest, entries };
};
