import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandReport } from '../../src/contracts/execution.js';
import type { Task } from '../../src/contracts/plan.js';
import { ParleyError } from '../../src/domain/errors.js';

/** How far an execution has come. */
export type Stage<Report> =
  /** A command may have been started; `owner` is the worker that did. */
  | { stage: 'started'; attempt: number; owner: string }
  /** The command has ended, and what it did is still to be looked at. */
  | { stage: 'ran'; attempt: number; command: CommandReport }
  | { stage: 'finished'; report: Report };

/** Names one execution of a task. A task that was changed under the same id is another one, as is one after a restore. */
export const executionName = (what: 'run' | 'undo' | 'check', round: number, task: Task, epoch: number): string =>
  `${round}.${task.task_id}.${createHash('sha256').update(JSON.stringify(task)).digest('hex').slice(0, 16)}.${what}` +
  (epoch === 0 ? '' : `.${epoch}`);

/** What became of executions, a file each, outside of the workspace: so that a retry runs nothing twice. */
export class Records {
  constructor(private readonly folder: string) {}

  async read<Report>(workId: string, name: string): Promise<Stage<Report> | null> {
    try {
      return JSON.parse(await readFile(this.file(workId, name), 'utf8')) as Stage<Report>;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Is on the disk, whole, when it settles. */
  async write(workId: string, name: string, stage: Stage<unknown>): Promise<void> {
    const file = this.file(workId, name);
    await mkdir(this.of(workId), { recursive: true, mode: 0o700 });
    const draft = `${file}-${randomUUID()}`;
    const handle = await open(draft, 'wx', 0o600);
    try {
      await handle.writeFile(JSON.stringify(stage));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
    const folder = await open(this.of(workId));
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  /** Says that the worker which runs it still lives. */
  async touch(workId: string, name: string): Promise<void> {
    const now = new Date();
    await utimes(this.file(workId, name), now, now);
  }

  /** How long ago it was written or touched, ms. */
  async age(workId: string, name: string): Promise<number> {
    return Date.now() - (await stat(this.file(workId, name))).mtimeMs;
  }

  /** As if the execution had never been begun. */
  async forget(workId: string, name: string): Promise<void> {
    await rm(this.file(workId, name), { force: true });
  }

  async remove(workId: string): Promise<void> {
    await rm(this.of(workId), { recursive: true, force: true });
  }

  private file(workId: string, name: string): string {
    return join(this.of(workId), `${name}.json`);
  }

  private of(workId: string): string {
    if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(workId)) return join(this.folder, workId);
    throw new ParleyError('invalid_request', `${JSON.stringify(workId)} is no id of a piece of work.`);
  }
}
