import { randomUUID } from 'node:crypto';
import { link, mkdir, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import { errorCode } from './folder.js';
import { readManifest, writeManifest, type Entry, type Manifest } from './manifest.js';
import { PackReader, PackWriter } from './pack.js';
import type { Pace } from './pace.js';

const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/**
 * What is kept of one workspace under one key: `start` (the snapshot: its manifest and the bytes of its files), `marks` by
 * name, and `latest`, the newest look, which only saves reading unchanged files again.
 */
export class Kept {
  private readonly folder: string;

  /** @throws ParleyError `invalid_request` when the key could be another path */
  constructor(root: string, key: string) {
    this.folder = join(root, checked(key));
  }

  /** @returns null when there is none */
  async start(pace: Pace): Promise<Manifest | null> {
    return await ifThere(readManifest(join(this.folder, 'start', 'manifest'), pace));
  }

  async mark(name: string, pace: Pace): Promise<Manifest | null> {
    return await ifThere(readManifest(join(this.folder, 'marks', checked(name)), pace));
  }

  async latest(pace: Pace): Promise<ReadonlyMap<string, Entry>> {
    return byPath(await ifThere(readManifest(join(this.folder, 'latest'), pace)));
  }

  pack(): PackReader {
    return new PackReader(join(this.folder, 'start', 'pack'));
  }

  /** Keeps what `look` packs as the start, in one piece and on the disk, or nothing. @returns the first one that was kept */
  async keepStart(look: (pack: PackWriter) => Promise<Manifest>, pace: Pace): Promise<Manifest> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const draft = await mkdtemp(join(this.folder, 'take-'));
    try {
      const pack = await PackWriter.create(join(draft, 'pack'));
      let manifest: Manifest;
      try {
        manifest = await look(pack);
        await pack.finish();
      } finally {
        await pack.close();
      }
      await writeManifest(join(draft, 'manifest'), manifest, pace);
      await synced(draft);
      try {
        await rename(draft, join(this.folder, 'start'));
      } catch (error) {
        if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
        const first = await this.start(pace);
        if (first === null) throw error;
        return first;
      }
      await synced(this.folder);
      return manifest;
    } catch (error) {
      if (errorCode(error) !== 'ENOSPC' && errorCode(error) !== 'EDQUOT') throw error;
      throw new ParleyError(
        'unavailable',
        `There is no room for the snapshot in ${this.folder}; free some, or set PARLEY_DATA of the workers to a larger disk.`,
      );
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  /** The first mark of a name stays. */
  async keepMark(name: string, manifest: Manifest, pace: Pace): Promise<void> {
    const marks = join(this.folder, 'marks');
    await mkdir(marks, { recursive: true, mode: 0o700 });
    const draft = await this.draft(manifest, pace);
    try {
      await link(draft, join(marks, checked(name)));
      await synced(marks);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    await rename(draft, join(this.folder, 'latest'));
  }

  async keepLatest(manifest: Manifest, pace: Pace): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await rename(await this.draft(manifest, pace), join(this.folder, 'latest'));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private async draft(manifest: Manifest, pace: Pace): Promise<string> {
    const draft = join(this.folder, `draft-${randomUUID()}`);
    await writeManifest(draft, manifest, pace);
    return draft;
  }
}

export const byPath = (manifest: Manifest | null): ReadonlyMap<string, Entry> =>
  new Map(manifest?.entries.map((entry) => [entry.path, entry]));

const checked = (name: string): string => {
  if (pattern.test(name)) return name;
  throw new ParleyError(
    'invalid_request',
    `${JSON.stringify(name)} is no key of a snapshot; give up to 200 letters, digits, ".", "_" or "-".`,
  );
};

const ifThere = async <T>(reading: Promise<T>): Promise<T | null> => {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
};

/** What was renamed or linked in a folder survives a power cut from here on. */
const synced = async (folder: string): Promise<void> => {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
