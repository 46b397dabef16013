import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, ftruncateSync, futimesSync, readSync, writeSync, type Stats } from 'node:fs';
import { ParleyError } from '../../src/domain/errors.js';
import { errorCode, type Folder } from './folder.js';
import { isUnchanged, splitPath, type Entry, type FileEntry } from './manifest.js';
import type { PackReader } from './pack.js';
import type { Pace } from './pace.js';
import { removeAll, temporaryName } from './remove-all.js';

const blockBytes = 1024 * 1024;

/** Where the one of several names of a file is that has been put back already. */
interface Placed {
  path: string;
  device: number;
  inode: number;
}

/** Puts files back: their bytes, and which names are names of one file. A file is replaced whole. */
export class FileRestorer {
  /** How many names of a file lie in the workspace. */
  private readonly names = new Map<string, number>();
  private readonly placed = new Map<string, Placed>();
  private readonly block = Buffer.allocUnsafe(blockBytes);

  /**
   * @param known earlier looks at the workspace, as in `scan`
   * @param open opens a folder of the workspace by its path; the caller closes it
   */
  constructor(
    entries: readonly Entry[],
    private readonly pack: PackReader,
    private readonly known: readonly ReadonlyMap<string, Entry>[],
    private readonly open: (path: string) => Folder,
    private readonly pace: Pace,
  ) {
    for (const entry of entries) {
      if (entry.type === 'file' && entry.seen.names > 1)
        this.names.set(fileKey(entry), (this.names.get(fileKey(entry)) ?? 0) + 1);
    }
  }

  /** @returns how it looks where nothing was done to it */
  async place(parent: Folder, name: string, entry: FileEntry): Promise<Stats | null> {
    let stats = parent.look(name);
    if (stats !== null && !stats.isFile()) {
      await removeAll(parent, name, this.pace);
      stats = null;
    }
    const isShared = (this.names.get(fileKey(entry)) ?? 0) > 1;
    const first = isShared ? this.placed.get(fileKey(entry)) : undefined;
    if (first) {
      if (stats?.ino !== first.inode || stats.dev !== first.device) this.giveName(parent, name, first);
      return null;
    }
    const isSameFile = stats?.ino === entry.seen.inode && stats.dev === entry.seen.device;
    // What took the place of another file and has more names could be changed through one of those.
    const isKept =
      stats !== null && (isSameFile || stats.nlink === 1) && (await this.hasBytes(parent, name, entry, stats));
    if (!isKept) await this.write(parent, name, entry, isSameFile && entry.seen.names > 1);
    if (isShared) {
      const { ino: inode, dev: device } = parent.expect(name);
      this.placed.set(fileKey(entry), { path: entry.path, device, inode });
    }
    return isKept ? stats : null;
  }

  private async hasBytes(parent: Folder, name: string, entry: FileEntry, stats: Stats): Promise<boolean> {
    for (const known of this.known) {
      const then = known.get(entry.path);
      if (then?.type === 'file' && isUnchanged(then.seen, stats)) return then.sha256 === entry.sha256;
    }
    if (stats.size !== entry.size) return false;
    let descriptor: number;
    try {
      descriptor = parent.openFile(name);
    } catch (error) {
      if (errorCode(error) === 'EACCES') return false; // then it is written anew
      throw error;
    }
    try {
      const hash = createHash('sha256');
      for (let length = -1; length !== 0; ) {
        await this.pace();
        length = readSync(descriptor, this.block, 0, blockBytes, null);
        hash.update(this.block.subarray(0, length));
      }
      return hash.digest('hex') === entry.sha256;
    } finally {
      closeSync(descriptor);
    }
  }

  /** @param isInPlace it is the very file of the snapshot and has names elsewhere: written into, those have its bytes too */
  private async write(parent: Folder, name: string, entry: FileEntry, isInPlace: boolean): Promise<void> {
    if (isInPlace && (await this.overwrite(parent, name, entry))) return;
    // Where nothing stands there is nothing to keep whole; a file that a crash leaves half written is written anew.
    const draft = parent.look(name) === null ? name : temporaryName();
    const descriptor = parent.createFile(draft);
    try {
      try {
        await this.copy(entry, descriptor);
        // A descriptor costs less than the path that would be gone by afterwards.
        fchmodSync(descriptor, entry.mode);
        futimesSync(descriptor, entry.modifiedMs / 1000, entry.modifiedMs / 1000);
      } finally {
        closeSync(descriptor);
      }
      if (draft !== name) parent.move(draft, name);
    } catch (error) {
      if (parent.look(draft) !== null) parent.remove(draft);
      throw error;
    }
  }

  /** @returns false when the file cannot be written into */
  private async overwrite(parent: Folder, name: string, entry: FileEntry): Promise<boolean> {
    await this.copy(entry, null); // what is damaged replaces nothing
    let descriptor: number;
    try {
      descriptor = parent.openFileToWrite(name);
    } catch (error) {
      if (errorCode(error) === 'EACCES' || errorCode(error) === 'ETXTBSY') return false;
      throw error;
    }
    try {
      await this.copy(entry, descriptor);
      ftruncateSync(descriptor, entry.size);
      return true;
    } finally {
      closeSync(descriptor);
    }
  }

  /** @throws ParleyError when the bytes are not those that were packed */
  private async copy({ offset = 0, size, sha256 }: FileEntry, descriptor: number | null): Promise<void> {
    const hash = createHash('sha256');
    for (let at = 0; at < size; ) {
      await this.pace();
      const length = this.pack.read(this.block, offset + at, size - at);
      if (length === 0) break;
      hash.update(this.block.subarray(0, length));
      for (let from = 0; descriptor !== null && from < length; )
        from += writeSync(descriptor, this.block, from, length - from, at + from);
      at += length;
    }
    if (hash.digest('hex') !== sha256) throw new ParleyError('wrong_state', 'its copy in the snapshot is damaged');
  }

  private giveName(parent: Folder, name: string, first: Placed): void {
    const [path, from] = splitPath(first.path);
    const folder = this.open(path);
    try {
      const temporary = temporaryName();
      parent.addName(temporary, folder, from);
      parent.move(temporary, name);
    } finally {
      folder.close();
    }
  }
}

const fileKey = ({ seen }: FileEntry): string => `${seen.device}:${seen.inode}`;
