import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isPath, KeysError, readKeyEntries, sha256Of } from '../api-keys.js';
import type { KeyEntry, Role } from '../contracts/access.js';
import { sameWord } from '../domain/feedback.js';
import { UsageError } from './errors.js';

/** The key file that a gateway with the same environment reads. */
export const keyFileOf = (env: Record<string, string | undefined>): string => {
  const keys = env['PARLEY_API_KEYS']?.trim() ?? '';
  return resolve(isPath(keys) ? keys : env['PARLEY_KEYS_FILE'] || join(env['PARLEY_DATA'] || '.parley', 'keys.json'));
};

/** @throws UsageError for a file that holds something else */
export const keysIn = (file: string): KeyEntry[] => {
  try {
    return readKeyEntries(file);
  } catch (error) {
    throw error instanceof KeysError ? new UsageError(error.message) : error;
  }
};

/**
 * Changes the file as a whole: a gateway that reads it meanwhile sees the old keys or the new ones. The draft keeps a
 * second `parley keys` out until it has taken the file's place.
 * @throws UsageError when another one is at it
 */
const changeKeys = (file: string, change: (keys: KeyEntry[]) => KeyEntry[]): void => {
  const draft = `${file}.new`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let descriptor: number;
  try {
    descriptor = openSync(draft, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new UsageError(`Another parley keys changes ${file} now. If none does, remove ${draft}.`);
  }
  try {
    writeSync(descriptor, `${JSON.stringify({ keys: change(keysIn(file)) }, null, 2)}\n`);
    fsyncSync(descriptor);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
};

/** Makes a key. @returns the key, which stands nowhere else, and whether it is the file's first */
export const addKey = (
  file: string,
  { name, tenant, role }: { name: string; tenant: string; role: Role },
  now: Date,
): { key: string; isFirst: boolean } => {
  const key = `parley_${randomBytes(32).toString('base64url')}`;
  let isFirst = false;
  changeKeys(file, (keys) => {
    const taken = keys.find((entry) => sameWord(entry.name, name));
    if (taken) throw new UsageError(`There is a key ${taken.name} already; revoke it first, or take another name.`);
    isFirst = keys.length === 0;
    return [...keys, { name, sha256: sha256Of(key).toString('hex'), tenant, role, added_at: now.toISOString() }];
  });
  return { key, isFirst };
};

/** @throws UsageError for a name that no key has */
export const revokeKey = (file: string, name: string): void =>
  changeKeys(file, (keys) => {
    const left = keys.filter((entry) => !sameWord(entry.name, name));
    if (left.length === keys.length) {
      const names = keys.map((entry) => entry.name).join(', ');
      throw new UsageError(`There is no key ${name} in ${file}; ${names === '' ? 'it has none' : `it has ${names}`}.`);
    }
    return left;
  });
