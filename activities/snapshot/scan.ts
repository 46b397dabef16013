import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, readSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import { errorCode, Folder, shown, toName, unlock } from './folder.js';
import { digestOf, isUnchanged, type Entry, type FileEntry, type Manifest } from './manifest.js';
import type { PackWriter } from './pack.js';
import type { Pace } from './pace.js';

export interface ScanOptions {
  /** Earlier looks at the same workspace, the latest first: what looks as it did then is not read again. */
  known: readonly ReadonlyMap<string, Entry>[];
  /** Where the bytes go; null: they are only hashed. */
  pack: PackWriter | null;
  /**
   * Read also what forbids it, where the worker may give itself the right; the mode is put back at once. For what a task
   * has made; what a person has made unreadable is left alone.
   */
  isForced: boolean;
  pace: Pace;
}

/** The longest path that the system takes; a task can make longer ones step by step. */
const maxPathBytes = 4_096;
const unreadableShown = 10;
/** Another process may replace a thing between the look at it and the reading. */
const looks = 3;
const blockBytes = 1024 * 1024;

/**
 * Everything in a workspace, following no link.
 * @throws ParleyError `wrong_state` that names what cannot be read
 */
export const scan = async (workspace: string, options: ScanOptions): Promise<Manifest> => {
  const scanner = new Scanner(options);
  const parent = Folder.open(dirname(workspace));
  try {
    if (!parent.look(toName(basename(workspace)))?.isDirectory())
      throw new ParleyError('wrong_state', `The workspace ${workspace} is no folder any more; make it again.`);
    await scanner.visit(parent, toName(basename(workspace)), '');
  } finally {
    parent.close();
  }
  scanner.throwIfUnreadable(workspace);
  const entries = scanner.entries.sort((one, other) => (one.path < other.path ? -1 : 1));
  return { workspace, entries, digest: await digestOf(entries, options.pace) };
};

class Scanner {
  readonly entries: Entry[] = [];
  private readonly unreadable: string[] = [];
  private readonly block = Buffer.allocUnsafe(blockBytes);
  /** Where bytes are in the pack by their hash. */
  private readonly packed = new Map<string, number>();

  constructor(private readonly options: ScanOptions) {}

  async visit(parent: Folder, name: string, path: string, look = 1): Promise<void> {
    await this.options.pace();
    if (path.length > maxPathBytes) {
      this.unreadable.push(`${shown(path.slice(0, 100))}… (its path has more than ${maxPathBytes} bytes)`);
      return;
    }
    const stats = parent.look(name);
    if (stats === null) return;
    try {
      if (stats.isDirectory()) await this.visitFolder(parent, name, path, stats);
      else this.entries.push(await this.entryOf(parent, name, path, stats));
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EACCES' || code === 'EPERM') this.unreadable.push(shown(path) || '.');
      else if (look < looks && (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EINVAL'))
        await this.visit(parent, name, path, look + 1);
      else throw error;
    }
  }

  throwIfUnreadable(workspace: string): void {
    const { length } = this.unreadable;
    if (length === 0) return;
    const named = this.unreadable.slice(0, unreadableShown).map((path) => JSON.stringify(path));
    const more = length > unreadableShown ? ` and ${length - unreadableShown} more` : '';
    const user = process.geteuid ? ` (user id ${process.geteuid()})` : '';
    throw new ParleyError(
      'wrong_state',
      `The worker${user} cannot read ${named.join(', ')}${more} in the workspace ${workspace}, so it could not put ` +
        'the workspace back. Give it the right to read, or move that elsewhere.',
    );
  }

  private async visitFolder(parent: Folder, name: string, path: string, stats: Stats): Promise<void> {
    // The folder's own entry comes last: when it has to be looked at again, what was found in it is found anew.
    const begun = this.entries.length;
    const folder = parent.enter(name);
    let isUnlocked = false;
    const names = (): string[] => {
      folder.look('.'); // needs the right to search it, as looking at its children does
      return folder.list();
    };
    try {
      let children: string[];
      try {
        children = names();
      } catch (error) {
        if (!this.options.isForced || errorCode(error) !== 'EACCES') throw error;
        unlock(parent, name, stats);
        isUnlocked = true;
        children = names();
      }
      for (const child of children) await this.visit(folder, child, path === '' ? child : `${path}/${child}`);
      this.entries.push({ type: 'folder', ...common(path, stats) });
    } catch (error) {
      this.entries.length = begun;
      throw error;
    } finally {
      folder.close();
      if (isUnlocked) parent.setMode(name, stats.mode & 0o7777);
    }
  }

  private async entryOf(parent: Folder, name: string, path: string, stats: Stats): Promise<Entry> {
    const base = common(path, stats);
    if (stats.isFile()) return await this.fileEntry(parent, name, path, stats);
    if (stats.isSymbolicLink()) return { type: 'link', ...base, target: parent.target(name) };
    if (stats.isFIFO()) return { type: 'pipe', ...base };
    return { type: stats.isSocket() ? 'socket' : 'device', ...base };
  }

  private async fileEntry(parent: Folder, name: string, path: string, stats: Stats): Promise<FileEntry> {
    const { pack, isForced } = this.options;
    const known = pack === null ? this.recall(path, stats) : null;
    if (known !== null)
      return { type: 'file', ...common(path, stats), sha256: known.sha256, size: known.size, seen: known.seen };
    const atMs = Date.now();
    const descriptor = openFile(parent, name, stats, isForced);
    try {
      const opened = fstatSync(descriptor);
      if (!opened.isFile()) throw Object.assign(new Error(`${shown(path)} was replaced`), { code: 'ENOENT' });
      const seen = {
        device: opened.dev,
        inode: opened.ino,
        size: opened.size,
        modifiedMs: opened.mtimeMs,
        changedMs: opened.ctimeMs,
        names: opened.nlink,
        atMs,
      };
      return { type: 'file', ...common(path, opened), ...(await this.read(descriptor)), seen };
    } finally {
      closeSync(descriptor);
    }
  }

  /** Hashes and packs what is read; bytes that the pack has are not packed again, unless they fill more than a block. */
  private async read(descriptor: number): Promise<Pick<FileEntry, 'sha256' | 'size' | 'offset'>> {
    const { pack, pace } = this.options;
    const hash = createHash('sha256');
    let length = this.fill(descriptor, hash);
    if (length < blockBytes) {
      const sha256 = hash.digest('hex');
      const size = length;
      if (pack === null) return { sha256, size };
      const kept = this.packed.get(sha256);
      if (kept !== undefined) return { sha256, size, offset: kept };
      const offset = pack.end;
      this.packed.set(sha256, offset);
      await pack.append(this.block.subarray(0, length));
      return { sha256, size, offset };
    }
    const offset = pack?.end;
    let size = 0;
    while (length > 0) {
      size += length;
      await pack?.append(this.block.subarray(0, length));
      await pace();
      length = this.fill(descriptor, hash);
    }
    return { sha256: hash.digest('hex'), size, ...(offset === undefined ? {} : { offset }) };
  }

  /** @returns less than a block only at the file's end */
  private fill(descriptor: number, hash: Hash): number {
    let length = 0;
    for (let read = -1; read !== 0 && length < blockBytes; length += read)
      read = readSync(descriptor, this.block, length, blockBytes - length, null);
    hash.update(this.block.subarray(0, length));
    return length;
  }

  private recall(path: string, stats: Stats): FileEntry | null {
    for (const known of this.options.known) {
      const entry = known.get(path);
      if (entry?.type === 'file' && isUnchanged(entry.seen, stats)) return entry;
    }
    return null;
  }
}

const openFile = (parent: Folder, name: string, stats: Stats, isForced: boolean): number => {
  try {
    return parent.openFile(name);
  } catch (error) {
    if (!isForced || errorCode(error) !== 'EACCES') throw error;
    parent.setMode(name, (stats.mode & 0o7777) | 0o400);
    try {
      return parent.openFile(name);
    } finally {
      parent.setMode(name, stats.mode & 0o7777);
    }
  }
};

const common = (path: string, stats: Stats) => ({
  path,
  mode: stats.mode & 0o7777,
  user: stats.uid,
  group: stats.gid,
  modifiedMs: stats.mtimeMs,
});
