import { chmodSync, existsSync } from 'node:fs';
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';
import type { AuditReceipt, AuditRecord } from '../../src/contracts/audit.js';
import { ParleyError } from '../../src/domain/errors.js';

/** How far a log is indexed, and the record with which it goes on. */
export interface ChainTail {
  /** Bytes of the log that are indexed. */
  size: number;
  /** 0 before the first record. */
  seq: number;
  hash: string;
}

export interface IndexQuery {
  work?: string | undefined;
  tenant?: string | undefined;
  /** Records after this number. */
  after: number;
  limit: number;
}

const version = 1;
const schema = `
  CREATE TABLE tail (id INTEGER PRIMARY KEY CHECK (id = 1), size INTEGER NOT NULL, seq INTEGER NOT NULL, hash TEXT NOT NULL);
  CREATE TABLE record (
    seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, hash TEXT NOT NULL, work_id TEXT, tenant TEXT NOT NULL,
    offset INTEGER NOT NULL, bytes INTEGER NOT NULL
  );
  CREATE INDEX record_by_work ON record (work_id, seq);
  CREATE INDEX record_by_tenant ON record (tenant, seq);
  PRAGMA user_version = ${version};
`;

/** SQLite waits this long by itself, and holds the whole process up meanwhile; whoever asks tries again. */
const busyMs = 5;
/** Locked by another, and lost a race for the locks of the log of changes. */
const passing = new Set([5, 15]);

const isBusy = (error: unknown): boolean => passing.has(((error as { errcode?: number }).errcode ?? 0) & 0xff);

/**
 * Where each record stands in the log, by number, key, work and tenant; and the lock that lets one process of the machine
 * append at a time, which the kernel takes from a process that dies. All of it can be made again from the log.
 */
export class ChainIndex {
  #opened: DatabaseSyncInstance | null = null;

  constructor(
    readonly file: string,
    readonly chain: string,
  ) {}

  #unusable(error: unknown): ParleyError {
    const why = error instanceof Error ? error.message : String(error);
    return new ParleyError(
      'unavailable',
      `${this.file} cannot be used: ${why}. If it is damaged, stop the workers and delete it: it is made again from the log.`,
    );
  }

  /** Also the change to WAL takes the lock for a moment, so that another process can be in its way. */
  #open(): DatabaseSyncInstance {
    if (this.#opened) return this.#opened;
    const isNew = !existsSync(this.file);
    const database = new DatabaseSync(this.file, { timeout: busyMs });
    try {
      if (isNew) chmodSync(this.file, 0o600);
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    } catch (error) {
      database.close();
      throw error;
    }
    return (this.#opened = database);
  }

  get #database(): DatabaseSyncInstance {
    return this.#open();
  }

  /**
   * Does `work` while no other process can; what it changes in the index is kept together or not at all.
   * @returns null when another process is at it: try again
   * @throws ParleyError unavailable when the file cannot be opened or is damaged
   */
  locked<T>(work: () => T): { done: T } | null {
    try {
      this.#open().exec('BEGIN IMMEDIATE');
    } catch (error) {
      if (isBusy(error)) return null;
      throw this.#unusable(error);
    }
    try {
      this.#prepare();
      const done = work();
      this.#database.exec('COMMIT');
      return { done };
    } catch (error) {
      // Some errors have ended the transaction by themselves.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #prepare(): void {
    const { user_version: found } = this.#database.prepare('PRAGMA user_version').get() as { user_version: number };
    if (found === version) return;
    if (found !== 0) this.#database.exec('DROP TABLE tail; DROP TABLE record');
    this.#database.exec(schema);
  }

  tail(genesis: string): ChainTail {
    const row = this.#database.prepare('SELECT size, seq, hash FROM tail').get() as ChainTail | undefined;
    return row ? { ...row } : { size: 0, seq: 0, hash: genesis };
  }

  setTail({ size, seq, hash }: ChainTail): void {
    this.#database
      .prepare(
        'INSERT INTO tail (id, size, seq, hash) VALUES (1, ?, ?, ?) ON CONFLICT DO UPDATE SET size = excluded.size, seq = excluded.seq, hash = excluded.hash',
      )
      .run(size, seq, hash);
  }

  /** A record that stands in the index already, as one that somebody put into the log twice, is left as it is. */
  add({ seq, key, hash, work_id: work, tenant }: AuditRecord, offset: number, bytes: number): void {
    this.#database
      .prepare(
        'INSERT INTO record (seq, key, hash, work_id, tenant, offset, bytes) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      )
      .run(seq, key, hash, work, tenant, offset, bytes);
  }

  find(key: string): AuditReceipt | null {
    const row = this.#database.prepare('SELECT seq, hash FROM record WHERE key = ?').get(key) as
      | Omit<AuditReceipt, 'chain'>
      | undefined;
    return row ? { chain: this.chain, ...row } : null;
  }

  /** Where the records stand that are asked for, by their numbers. */
  list({ work, tenant, after, limit }: IndexQuery): { seq: number; offset: number; bytes: number }[] {
    const conditions = [
      'seq > ?',
      ...(work === undefined ? [] : ['work_id = ?']),
      ...(tenant === undefined ? [] : ['tenant = ?']),
    ];
    const values = [after, work, tenant, limit].filter((value) => value !== undefined);
    return this.#database
      .prepare(`SELECT seq, offset, bytes FROM record WHERE ${conditions.join(' AND ')} ORDER BY seq LIMIT ?`)
      .all(...values) as { seq: number; offset: number; bytes: number }[];
  }

  close(): void {
    this.#opened?.close();
    this.#opened = null;
  }
}
