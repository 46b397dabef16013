import type { Stats } from 'node:fs';
import { ParleyError } from '../../src/domain/errors.js';
import { errorCode, isFileError, shown, unlock, type Folder } from './folder.js';
import { splitPath, type Entry, type FolderEntry, type LinkEntry, type Manifest } from './manifest.js';
import type { PackReader } from './pack.js';
import type { Pace } from './pace.js';
import { removeAll } from './remove-all.js';
import { FileRestorer } from './restore-file.js';

/** Times are set as whole microseconds, and kept in finer steps. */
const sameTimeMs = 0.002;

/**
 * Makes a workspace equal a snapshot. Works from what is there and changes only what differs, so it can begin again after a
 * crash at any point. What fails is noted, and the rest is still done.
 */
export class Restorer {
  /** What could not be put back, for a person, a line each. */
  readonly manual: string[] = [];
  private readonly children = new Map<string, Map<string, Entry>>();
  private readonly files: FileRestorer;

  /**
   * @param parent the folder that the workspace is in, and `root` its name there
   * @param known earlier looks at the workspace, as in `scan`
   */
  constructor(
    private readonly parent: Folder,
    private readonly root: string,
    private readonly manifest: Manifest,
    pack: PackReader,
    known: readonly ReadonlyMap<string, Entry>[],
    private readonly pace: Pace,
  ) {
    this.files = new FileRestorer(manifest.entries, pack, known, (path) => this.open(path), pace);
    for (const entry of manifest.entries) {
      if (entry.path === '') continue;
      const [folder, name] = splitPath(entry.path);
      const children = this.children.get(folder) ?? new Map<string, Entry>();
      this.children.set(folder, children.set(name, entry));
    }
  }

  async run(): Promise<void> {
    const root = this.manifest.entries[0];
    if (root?.path !== '') throw new Error('a snapshot begins with the workspace itself');
    await this.place(this.parent, this.root, root);
  }

  private async place(parent: Folder, name: string, entry: Entry): Promise<void> {
    await this.pace();
    try {
      let stats: Stats | null = null;
      switch (entry.type) {
        case 'folder':
          await this.placeFolder(parent, name, entry);
          break;
        case 'file':
          stats = await this.files.place(parent, name, entry);
          break;
        case 'link':
          await this.placeLink(parent, name, entry);
          break;
        default:
          if (!isSpecial(parent.look(name), entry.type)) {
            const advice = entry.type === 'socket' ? 'start the program that listens on it' : 'make it again';
            this.manual.push(`${shown(entry.path)} was a ${entry.type} and has been replaced or removed; ${advice}.`);
            return;
          }
      }
      this.settle(parent, name, entry, stats ?? parent.expect(name));
    } catch (error) {
      this.note(entry.path, 'could not be put back', error);
    }
  }

  private async placeFolder(parent: Folder, name: string, entry: FolderEntry): Promise<void> {
    let stats = parent.look(name);
    if (stats !== null && !stats.isDirectory()) {
      parent.remove(name);
      stats = null;
    }
    if (stats === null) parent.createFolder(name);
    else unlock(parent, name, stats);
    const folder = parent.enter(name);
    try {
      const wanted = this.children.get(entry.path) ?? new Map<string, Entry>();
      for (const child of folder.list()) {
        if (wanted.has(child)) continue;
        try {
          await removeAll(folder, child, this.pace);
        } catch (error) {
          this.note(join(entry.path, child), 'could not be removed', error);
        }
      }
      for (const [child, want] of wanted) await this.place(folder, child, want);
    } finally {
      folder.close();
    }
  }

  private async placeLink(parent: Folder, name: string, entry: LinkEntry): Promise<void> {
    const stats = parent.look(name);
    if (stats?.isSymbolicLink() && parent.target(name) === entry.target) return;
    if (stats !== null) await removeAll(parent, name, this.pace);
    parent.createLink(name, entry.target);
  }

  /** Owner before mode, since a change of owner takes setuid away; times last. */
  private settle(parent: Folder, name: string, entry: Entry, now: Stats): void {
    let stats = now;
    if (stats.uid !== entry.user || stats.gid !== entry.group) {
      try {
        parent.setOwner(name, entry.user, entry.group);
      } catch (error) {
        if (errorCode(error) !== 'EPERM') throw error;
        this.manual.push(
          `${shown(entry.path) || '.'} belonged to user ${entry.user} and group ${entry.group}, which the worker may not ` +
            'give it back to; change its owner (chown).',
        );
      }
      stats = parent.expect(name);
    }
    if (entry.type !== 'link' && (stats.mode & 0o7777) !== entry.mode) parent.setMode(name, entry.mode);
    if (Math.abs(stats.mtimeMs - entry.modifiedMs) > sameTimeMs) parent.setTimes(name, stats.atimeMs, entry.modifiedMs);
  }

  /** A folder of the workspace by its path, step by step. */
  private open(path: string): Folder {
    let folder = this.parent.enter(this.root);
    for (const name of path === '' ? [] : path.split('/')) {
      const outer = folder;
      try {
        folder = outer.enter(name);
      } finally {
        outer.close();
      }
    }
    return folder;
  }

  private note(path: string, what: string, error: unknown): void {
    if (!(error instanceof ParleyError) && !isFileError(error)) throw error;
    // The system's message goes on with a path that means nothing to people.
    this.manual.push(`${shown(path) || '.'} ${what}: ${(error as Error).message.split(',')[0]}.`);
  }
}

const join = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`);
const isSpecial = (stats: Stats | null, type: 'pipe' | 'socket' | 'device'): boolean =>
  stats !== null &&
  { pipe: stats.isFIFO(), socket: stats.isSocket(), device: stats.isBlockDevice() || stats.isCharacterDevice() }[type];
