import type { Stats } from 'node:fs';
import { ParleyError } from '../../../src/domain/errors.js';
import { Folder, shown, toName } from '../../snapshot/folder.js';

/** What a path leads to. Folders in it are open only as long as it is used. */
export type Place =
  | { kind: 'folder'; folder: Folder }
  | { kind: 'file'; parent: Folder; name: string; stats: Stats }
  /** `names`: what is missing below `parent`, outermost first. */
  | { kind: 'missing'; parent: Folder; names: string[] };

const mostLinks = 40;
/** Deeper than anybody works, and an open descriptor each. */
const mostFolders = 100;

const refuse = (code: 'ESEC' | 'invalid_request', path: string, what: string): never => {
  throw new ParleyError(code, `path ${JSON.stringify(path)} ${what}`);
};

/** A walk from a root; it never leaves it, whatever links are there and whoever changes them meanwhile. */
class Walk {
  private readonly open: Folder[];
  private readonly rest: string[];
  private links = 0;

  constructor(
    root: string,
    private readonly path: string,
  ) {
    this.rest = path.split('/').map(toName);
    this.open = [Folder.open(root)];
  }

  private get here(): Folder {
    return this.open.at(-1)!;
  }

  close(): void {
    for (const folder of this.open) folder.close();
  }

  private up(): void {
    if (this.open.length === 1)
      refuse('ESEC', this.path, 'leads out of the folder; name what lies in it, by a relative path');
    this.open.pop()?.close();
  }

  private follow(name: string): void {
    this.links += 1;
    if (this.links > mostLinks) refuse('invalid_request', this.path, 'leads from link to link without an end');
    const target = this.here.target(name);
    if (target.startsWith('/'))
      refuse('ESEC', this.path, `goes by a link to ${shown(target)}; only links within the folder are followed`);
    this.rest.unshift(...target.split('/'));
  }

  private enter(name: string): void {
    if (this.open.length > mostFolders)
      refuse('invalid_request', this.path, `is more than ${mostFolders} folders deep`);
    this.open.push(this.here.enter(name));
  }

  toEnd(): Place {
    for (let name = this.rest.shift(); name !== undefined; name = this.rest.shift()) {
      if (name === '' || name === '.') continue;
      if (name === '..') {
        this.up();
        continue;
      }
      const stats = this.here.look(name);
      if (stats === null) return { kind: 'missing', parent: this.here, names: this.missing(name) };
      if (stats.isSymbolicLink()) this.follow(name);
      else if (stats.isDirectory()) this.enter(name);
      else if (this.rest.some((next) => next !== '' && next !== '.'))
        refuse('invalid_request', this.path, `goes through ${shown(name)}, which is no folder`);
      else return { kind: 'file', parent: this.here, name, stats };
    }
    return { kind: 'folder', folder: this.here };
  }

  private missing(first: string): string[] {
    const names = [first, ...this.rest].filter((name) => name !== '' && name !== '.');
    if (names.includes('..')) refuse('ESEC', this.path, 'goes on from what is not there; name the file itself');
    if (names.length > mostFolders) refuse('invalid_request', this.path, `is more than ${mostFolders} folders deep`);
    return names;
  }
}

/**
 * Looks where a path leads that was checked to be relative and without "..". Links are followed within the root alone.
 * @param root absolute; links in it are followed
 * @throws ParleyError ESEC for what leads out, invalid_request for what is no path
 */
export const withPlace = async <T>(root: string, path: string, use: (place: Place) => T | Promise<T>): Promise<T> => {
  const walk = new Walk(root, path);
  try {
    return await use(walk.toEnd());
  } finally {
    walk.close();
  }
};

/** As `withPlace`, for a folder that has to be there. */
export const withFolder = async <T>(root: string, path: string, use: (folder: Folder) => T | Promise<T>): Promise<T> =>
  await withPlace(root, path, async (place) => {
    if (place.kind === 'folder') return await use(place.folder);
    if (place.kind === 'missing') throw notThere(path);
    throw new ParleyError('invalid_request', `path ${JSON.stringify(path)} is a file; name a folder`);
  });

export const notThere = (path: string): ParleyError =>
  new ParleyError('not_found', `path ${JSON.stringify(path)} is not there; list_files says what is`);
