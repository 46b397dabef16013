import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { unlink, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The standard streams of a command to be started, and our ends of its output. */
export interface StandardStreams {
  /** Descriptors for `spawn`'s stdio. */
  descriptors: [number, number, number];
  stdout: Socket;
  stderr: Socket;
  /** Closes what only the command needs, once it has been started. */
  release: () => void;
}

/** Both ends of a pipe, as descriptors. */
interface Pipe {
  reader: number;
  writer: number;
}

/** Pipes that are made at once: to start the program that makes them holds the whole process up for some milliseconds. */
const madeAtOnce = 16;
/** Made and not yet taken; as good as new, since nobody else has seen them. */
const ready: Pipe[] = [];

/**
 * Real pipes: those that `spawn` makes are sockets, through which a command cannot open /dev/stdout or /dev/stderr. They have
 * names only for a moment, in a folder of ours; all modes are open since nobody else can enter that folder and the command
 * may have another user id.
 */
const makePipes = async (folder: string): Promise<void> => {
  const paths = Array.from({ length: madeAtOnce }, (_, index) => join(folder, `pipe-${index}`));
  await promisify(execFile)('mkfifo', ['-m', '666', ...paths]);
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  for (const path of paths) {
    // The reading end first and without waiting: opening either end else waits for the other.
    const reader = openSync(path, O_RDONLY | O_NONBLOCK);
    try {
      ready.push({ reader, writer: openSync(path, O_WRONLY) });
    } catch (error) {
      closeSync(reader);
      throw error;
    }
  }
  await Promise.all(paths.map((path) => unlink(path)));
};

/**
 * Real pipes for its output and a file with its input, for which the same holds: a command can open /dev/stdin.
 * @param folder an empty one of ours
 */
export const makeStandardStreams = async (folder: string, stdin: string): Promise<StandardStreams> => {
  const input = join(folder, 'in');
  await writeFile(input, stdin, { mode: 0o444 });
  while (ready.length < 2) await makePipes(folder);
  const [output, errors] = ready.splice(0, 2) as [Pipe, Pipe];
  const opened = [output, errors].flatMap(({ reader, writer }) => [reader, writer]);
  try {
    const theirs: [number, number, number] = [openSync(input, constants.O_RDONLY), output.writer, errors.writer];
    opened.push(theirs[0]);
    const [stdout, stderr] = [output, errors].map(
      ({ reader }) => new Socket({ fd: reader, readable: true, writable: false }),
    ) as [Socket, Socket];
    return { descriptors: theirs, stdout, stderr, release: () => theirs.forEach((fd) => closeSync(fd)) };
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor);
    throw error;
  }
};
