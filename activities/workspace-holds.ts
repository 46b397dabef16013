import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Context, getClient } from '@temporalio/activity';
import { WorkflowNotFoundError } from '@temporalio/client';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { ParleyError } from '../src/domain/errors.js';
import { inTransaction } from './memory/database.js';

/** A folder that a piece of work changes, from its snapshot to its end. */
export interface Hold {
  workId: string;
  folder: string;
}

/** How long a writer waits for another process's transaction; each takes milliseconds. */
const busyMs = 5_000;
const longestWaitMs = 60_000;

/**
 * Which piece of work has which folder, among all workers with this data folder. Two that changed one folder at a time would
 * destroy each other's work: the rollback of one puts back what was there before the other began.
 */
export class WorkspaceHolds {
  constructor(private readonly dataFolder: string) {}

  /** Holds the folder unless another work holds it, one in it or one around it. @returns those; none: it is held */
  take({ workId, folder }: Hold): Hold[] {
    return this.inDatabase((database) => {
      const rows = database.prepare('SELECT work_id AS workId, folder FROM hold WHERE work_id <> ?').all(workId);
      const others = (rows as Hold[]).filter((other) => overlap(other.folder, folder));
      if (others.length === 0)
        database.prepare('INSERT OR REPLACE INTO hold (work_id, folder) VALUES (?, ?)').run(workId, folder);
      return others.map((other) => ({ ...other }));
    });
  }

  release(workId: string): void {
    this.inDatabase((database) => database.prepare('DELETE FROM hold WHERE work_id = ?').run(workId));
  }

  /** Opened for each use: a few milliseconds, a few times for each piece of work, and nothing to close at the end. */
  private inDatabase<T>(work: (database: DatabaseSyncInstance) => T): T {
    mkdirSync(this.dataFolder, { recursive: true, mode: 0o700 });
    const database = new DatabaseSync(join(this.dataFolder, 'workspaces.db'), { timeout: busyMs });
    try {
      return inTransaction(database, () => {
        database.exec('CREATE TABLE IF NOT EXISTS hold (work_id TEXT PRIMARY KEY, folder TEXT NOT NULL)');
        return work(database);
      });
    } finally {
      database.close();
    }
  }
}

const overlap = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/**
 * Holds a folder for a piece of work, in an activity. What has ended without releasing it holds nothing.
 * @throws ParleyError `conflict`, to be tried again after ever longer times, while another work has it
 */
export const holdWorkspace = async (holds: WorkspaceHolds, hold: Hold): Promise<void> => {
  for (;;) {
    const others = holds.take(hold);
    if (others.length === 0) return;
    for (const other of others) {
      if (await isOpen(other.workId)) throw held(hold, other);
      holds.release(other.workId);
    }
  }
};

const held = ({ folder }: Hold, other: Hold): ParleyError => {
  const { attempt } = Context.current().info;
  const where = other.folder === folder ? '' : ` in ${other.folder}`;
  return new ParleyError(
    'conflict',
    `${folder} is being changed by ${other.workId}${where}, and what one takes back would be lost to the other. ` +
      `Start this again once ${other.workId} has ended, or cancel that one.`,
    { retryable: true, retryAfterMs: Math.min(longestWaitMs, 1_000 * 2 ** (attempt - 1)) },
  );
};

const isOpen = async (workId: string): Promise<boolean> => {
  try {
    return (await getClient().workflow.getHandle(workId).describe()).closeTime === undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
};
