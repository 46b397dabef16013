import * as fs from 'node:fs';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const isLinux = process.platform === 'linux';
/** Names a thing without opening it, so that no permission on it is needed; Node has no name for the flag. */
const O_PATH = isLinux ? 0o10_000_000 : 0;

/** Names of files are bytes: here one character each, since not all of them are UTF-8. */
export const toName = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
const toBytes = (name: string): Buffer => Buffer.from(name, 'latin1');

/** A name or a path for people: what is no UTF-8 is written as `\xNN`. */
export const shown = (name: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(toBytes(name));
  } catch {
    return name.replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  }
};

export const errorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** An error of the file system, and not of what called it. */
export const isFileError = (error: unknown): boolean =>
  typeof (error as NodeJS.ErrnoException | undefined)?.syscall === 'string';

/**
 * An open folder. What is done through it happens in that folder, wherever it has been moved to, and follows no symbolic
 * link, whatever other processes do in the meantime. (Elsewhere than on Linux, it goes by paths and is only as safe as those.)
 * Every method throws the file system's errors.
 */
export class Folder {
  private constructor(
    private readonly descriptor: number,
    private readonly path: string,
  ) {}

  /** @param path a folder that no task can replace; links in it are followed */
  static open(path: string): Folder {
    return new Folder(fs.openSync(path, O_PATH | O_DIRECTORY), toName(path));
  }

  close(): void {
    fs.closeSync(this.descriptor);
  }

  /** In the order of bytes. */
  list(): string[] {
    return fs.readdirSync(this.at('.'), { encoding: 'latin1' }).toSorted();
  }

  /** @returns null when there is no such name */
  look(name: string): fs.Stats | null {
    return fs.lstatSync(this.at(name), { throwIfNoEntry: false }) ?? null;
  }

  /** As `look`, for what has to be there. @throws an error of the file system when it is not */
  expect(name: string): fs.Stats {
    return fs.lstatSync(this.at(name));
  }

  enter(name: string): Folder {
    const path = this.at(name);
    return new Folder(fs.openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW), `${this.path}/${name}`);
  }

  /** @returns a descriptor that the caller closes. A pipe that stands there instead does not hold it up. */
  openFile(name: string): number {
    return fs.openSync(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** As `openFile`, to write over what is there. */
  openFileToWrite(name: string): number {
    return fs.openSync(this.at(name), O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  createFile(name: string): number {
    return fs.openSync(this.at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  createFolder(name: string): void {
    fs.mkdirSync(this.at(name), 0o700);
  }

  createLink(name: string, target: string): void {
    fs.symlinkSync(toBytes(target), this.at(name));
  }

  target(name: string): string {
    return fs.readlinkSync(this.at(name), { encoding: 'latin1' });
  }

  /** A second name, `name` in this folder, for the file `from` in the other. */
  addName(name: string, other: Folder, from: string): void {
    fs.linkSync(other.at(from), this.at(name));
  }

  move(name: string, to: string, into: Folder = this): void {
    fs.renameSync(this.at(name), into.at(to));
  }

  remove(name: string): void {
    fs.unlinkSync(this.at(name));
  }

  removeFolder(name: string): void {
    fs.rmdirSync(this.at(name));
  }

  /** No link is followed, though the system has no call for that: the mode is set on what was opened. */
  setMode(name: string, mode: number): void {
    if (!isLinux) {
      fs.lchmodSync(this.at(name), mode);
      return;
    }
    const descriptor = fs.openSync(this.at(name), O_PATH | O_NOFOLLOW);
    try {
      fs.chmodSync(`/proc/self/fd/${descriptor}`, mode);
    } finally {
      fs.closeSync(descriptor);
    }
  }

  setOwner(name: string, user: number, group: number): void {
    fs.lchownSync(this.at(name), user, group);
  }

  setTimes(name: string, accessedMs: number, modifiedMs: number): void {
    fs.lutimesSync(this.at(name), accessedMs / 1000, modifiedMs / 1000);
  }

  private at(name: string): Buffer {
    return toBytes(`${isLinux ? `/proc/self/fd/${this.descriptor}` : this.path}/${name}`);
  }
}

/** Lets the worker read, write and search a folder that may forbid it. @returns the mode it had */
export const unlock = (parent: Folder, name: string, stats: fs.Stats): number => {
  const mode = stats.mode & 0o7777;
  if ((mode & 0o700) !== 0o700) parent.setMode(name, mode | 0o700);
  return mode;
};
