import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../src/contracts/frames.js';
import { ParleyError } from '../../src/domain/errors.js';
import type { Amount } from '../../src/domain/session/setup.js';

/** A worker's answer as it is kept beside the namespaces, where no worker can reach it. */
export interface AnswerRecord {
  answer: Json;
  usage: Amount;
  attempt: number;
}

// No agent id begins with a dot, so that it can be no agent's folder.
const fileOf = (root: string, workId: string, taskId: string): string =>
  join(root, workId, '.answers', `${taskId}.json`);

/** Whole or not at all: a worker that dies while it writes leaves none. */
export const writeRecord = async (
  root: string,
  workId: string,
  taskId: string,
  record: AnswerRecord,
): Promise<void> => {
  const file = fileOf(root, workId, taskId);
  await mkdir(join(root, workId, '.answers'), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${file}.new`, file);
};

/** null: the task has not been done here. */
export const readRecord = async (root: string, workId: string, taskId: string): Promise<AnswerRecord | null> => {
  try {
    return JSON.parse(await readFile(fileOf(root, workId, taskId), 'utf8')) as AnswerRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/** @throws ParleyError unavailable when the answer is not on this machine any more */
export const needRecord = async (root: string, workId: string, taskId: string): Promise<AnswerRecord> => {
  const record = await readRecord(root, workId, taskId);
  if (record) return record;
  throw new ParleyError(
    'unavailable',
    `the answer of task ${taskId} is gone from the worker's data folder; start the fan-out anew`,
  );
};
