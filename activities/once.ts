import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// No agent id begins with a dot, so that it can be no agent's folder.
const fileOf = (root: string, workId: string, name: string): string => join(root, workId, '.answers', `${name}.json`);

interface Recorded<End> {
  key: string;
  end: End;
}

/** Whole or not at all: a worker that dies while it writes leaves none. */
const writeRecord = async (root: string, workId: string, name: string, record: Recorded<unknown>): Promise<void> => {
  const file = fileOf(root, workId, name);
  await mkdir(join(root, workId, '.answers'), { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${file}.new`, file);
};

const readRecord = async (root: string, workId: string, name: string): Promise<Recorded<unknown> | null> => {
  try {
    return JSON.parse(await readFile(fileOf(root, workId, name), 'utf8')) as Recorded<unknown>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/** Names one call among those of its piece of work. */
export interface RecordedCall {
  workId: string;
  /** Of the record, which each later call under this name replaces. */
  name: string;
  /** Another key is another call. */
  key: string;
}

/**
 * Makes a call that is paid for, once: how it ended is recorded, beside the namespaces, where no worker reaches it, before
 * anybody hears of it. Who asks again, after a worker process died, is answered by the record. `End` is plain JSON.
 */
export const once = async <End>(
  root: string,
  { workId, name, key }: RecordedCall,
  call: () => Promise<End>,
): Promise<End> => {
  const record = await readRecord(root, workId, name);
  if (record?.key === key) return record.end as End;
  const end = await call();
  await writeRecord(root, workId, name, { key, end });
  return end;
};
