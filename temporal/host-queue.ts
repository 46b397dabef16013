import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parleyTaskQueue } from './task-queue.js';

/**
 * The queue of the workers that share a data folder: what is kept there (snapshots, records of tasks, memory, the audit log)
 * can only be used by them. It outlives restarts, so that a debate goes on where its workspace is.
 */
export const hostQueueOf = (dataFolder: string, taskQueue = parleyTaskQueue): string => {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const file = join(dataFolder, 'host-id');
  try {
    // Exclusive: of two workers that start together, the second one reads what the first has written.
    writeFileSync(file, randomBytes(8).toString('hex'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return `${taskQueue}-${readFileSync(file, 'utf8').trim()}`;
};
