import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { types } from 'node:util';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import { ParleyError } from '../../src/domain/errors.js';
import { dot } from './embedder.js';
import { migrations } from './schema.js';

export type Database = DatabaseSyncInstance;

/** How long a writer waits for another process's transaction; each takes milliseconds. */
const busyTimeoutMs = 5_000;

/** SQLite's number of an error, or that of what the file system refused before SQLite was asked. */
const codeOf = (error: unknown): number | null => {
  if (!types.isNativeError(error)) return null;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (typeof errcode === 'number') return errcode & 0xff;
  return typeof code === 'string' && /^E(ACCES|PERM|ROFS|NOTDIR|EXIST)$/.test(code) ? 14 : null;
};

/** SQLite's numbers, https://sqlite.org/rescode.html. */
const meanings: Record<number, { retryable: boolean; means: (file: string) => string }> = {
  5: {
    retryable: true,
    means: (file) => `${file} was locked by another process for more than ${busyTimeoutMs / 1000} s`,
  },
  8: {
    retryable: false,
    means: (file) =>
      `${file} cannot be written. Give this user the right to write it and its folder, or set PARLEY_DATA to another folder`,
  },
  10: { retryable: true, means: (file) => `${file} cannot be read or written: the disk reports an error` },
  11: {
    retryable: false,
    means: (file) => `${file} is damaged. Put a copy in its place, or move it away to begin with an empty memory`,
  },
  13: { retryable: true, means: (file) => `the disk that holds ${file} is full` },
  14: {
    retryable: false,
    means: (file) =>
      `${file} cannot be opened. Its folder must exist and belong to this user; PARLEY_DATA says which folder it is`,
  },
  26: {
    retryable: false,
    means: (file) =>
      `${file} is no SQLite database. Put a copy in its place, or move it away to begin with an empty memory`,
  },
};

/** What SQLite refused, as words for the one who can mend it; any other error stays as it is. */
const explained = (error: unknown, file: string): unknown => {
  const meaning = meanings[codeOf(error) ?? -1];
  if (meaning === undefined) return error;
  const { retryable, means } = meaning;
  return new ParleyError('unavailable', `Memory: ${means(file)} (${(error as Error).message}).`, { retryable });
};

/** Runs `work` in one transaction that takes the write lock at once, so that it never fails half-way for want of it. */
export const inTransaction = <T>(database: Database, work: () => T): T => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

const versionOf = (database: Database): number =>
  Number((database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version);

const migrate = (database: Database, file: string): void => {
  if (versionOf(database) === migrations.length) return;
  inTransaction(database, () => {
    const version = versionOf(database); // another process may have been first
    if (version > migrations.length) {
      throw new ParleyError(
        'unavailable',
        `Memory: ${file} was written by a later Parley (its version is ${version}, this one knows ${migrations.length}). Update Parley, or set PARLEY_DATA to another folder.`,
      );
    }
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
};

/** The bytes of a stored vector as numbers; copied, as they need not be aligned. */
const floats = (bytes: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);

/**
 * Gives SQL the function `vec_distance_cosine(a, b)`: from the extension where it has a binary for this system, else a
 * slower one with the same meaning.
 */
const addVectorDistance = (database: Database, withExtension: boolean): void => {
  if (withExtension) {
    database.enableLoadExtension(true);
    try {
      // Its ES module needs what not every loader has; the other one does not.
      const { getLoadablePath } = createRequire(import.meta.url)('sqlite-vec') as { getLoadablePath: () => string };
      database.loadExtension(getLoadablePath());
      return;
    } catch {
      // No binary for this system, or it does not fit its libraries: the function below does the same.
    } finally {
      database.enableLoadExtension(false);
    }
  }
  database.function('vec_distance_cosine', { deterministic: true }, (a: Uint8Array, b: Uint8Array) => {
    const [left, right] = [floats(a), floats(b)];
    const lengths = Math.sqrt(dot(left, left) * dot(right, right));
    return lengths === 0 ? null : 1 - dot(left, right) / lengths;
  });
};

export interface OpenOptions {
  /** false: compare vectors without the extension, as on systems that it has no binary for. */
  vectorExtension?: boolean;
}

/**
 * Opens the file, made if need be, with its tables as this version wants them. Several processes may have it open.
 * @throws ParleyError unavailable, saying what is wrong with the file and how to mend it
 */
export const openDatabase = (file: string, { vectorExtension = true }: OpenOptions = {}): Database => {
  let database: Database | null = null;
  try {
    if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    database = new DatabaseSync(file, { timeout: busyTimeoutMs, allowExtension: true });
    database.exec('PRAGMA journal_mode = WAL');
    // A power cut loses nothing that was stored.
    database.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -32000');
    migrate(database, file);
    addVectorDistance(database, vectorExtension);
    return database;
  } catch (error) {
    database?.close();
    throw explained(error, file);
  }
};

/** Runs what touches the database, so that its refusals come as words. */
export const guarded = <T>(file: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw explained(error, file);
  }
};
