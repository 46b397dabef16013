import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
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

/**
 * Real pipes and a file: those that `spawn` makes are sockets, through which a command cannot open /dev/stdin, /dev/stdout
 * or /dev/stderr. They have names only for a moment, in a folder of ours; all modes are open since nobody else can enter
 * that folder and the command may have another user id.
 */
export const makeStandardStreams = async (folder: string, stdin: string): Promise<StandardStreams> => {
  const [input, output, errors] = ['in', 'out', 'err'].map((name) => join(folder, name)) as [string, string, string];
  await Promise.all([
    writeFile(input, stdin, { mode: 0o444 }),
    promisify(execFile)('mkfifo', ['-m', '666', output, errors]),
  ]);
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const descriptor = openSync(path, flags);
    opened.push(descriptor);
    return descriptor;
  };
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  try {
    // The reading end first and without waiting: opening either end else waits for the other.
    const ours = [output, errors].map((path) => open(path, O_RDONLY | O_NONBLOCK)) as [number, number];
    const theirs = [open(input, O_RDONLY), open(output, O_WRONLY), open(errors, O_WRONLY)] as [number, number, number];
    const [stdout, stderr] = ours.map((fd) => new Socket({ fd, readable: true, writable: false })) as [Socket, Socket];
    return { descriptors: theirs, stdout, stderr, release: () => theirs.forEach((fd) => closeSync(fd)) };
  } catch (error) {
    for (const descriptor of opened) closeSync(descriptor);
    throw error;
  }
};
