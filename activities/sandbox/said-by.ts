import { execFile } from 'node:child_process';

/** What a program writes, on either stream; null when it is not there or fails. */
export const saidBy = (program: string, ...args: string[]): Promise<string | null> =>
  new Promise((resolve) => {
    execFile(program, args, { timeout: 10_000 }, (error, stdout, stderr) => resolve(error ? null : stdout + stderr));
  });
