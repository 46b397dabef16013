import type { FileChange } from '../../src/contracts/execution.js';

export interface Snapshot {
  /** What `restore` and `changes` are given to name it. */
  snapshot: string;
  /** Hexadecimal; a function of every path, type, mode, link target and byte in the workspace. */
  digest: string;
  files: number;
}

/** Snapshots of a workspace, kept outside of it (spec 02 "rollback"). A key is one piece of work: its id. */
export interface SnapshotPort {
  /**
   * Copies the workspace aside. The first finished take of a key stands: a repeated or a concurrent one is answered with it.
   * @throws ParleyError `wrong_state` when the workspace is gone, something in it cannot be read, or the disk is full; nothing
   * is kept then
   */
  take(key: string, workspace: string, signal: AbortSignal): Promise<Snapshot>;

  /**
   * Remembers what the workspace holds, by hashes alone, for `changes`; it cannot be restored from. The first mark of a name
   * stands. @returns what `changes` is given as `since`
   */
  mark(key: string, workspace: string, name: string, signal: AbortSignal): Promise<string>;

  /**
   * What is different now, sorted by path. Folders are part of it, with `sha256: null`.
   * @param since a snapshot or a mark of the same key
   * @throws ParleyError `not_found` when there is none
   */
  changes(key: string, workspace: string, since: string, signal: AbortSignal): Promise<FileChange[]>;

  /**
   * Makes the workspace equal the snapshot, byte for byte; to be repeated after a crash at any point.
   * @returns the digest of what is there now, read again, and a line for a person for each thing that could not be put back
   * @throws ParleyError `not_found` when there is no such snapshot
   */
  restore(
    key: string,
    workspace: string,
    snapshot: string,
    signal: AbortSignal,
  ): Promise<{ digest: string; manual: string[] }>;

  /** Forgets everything kept under the key. */
  remove(key: string): Promise<void>;
}
