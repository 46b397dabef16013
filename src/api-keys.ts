import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { keyEntrySchema, keyFileSchema, type KeyEntry, type Role } from './contracts/access.js';
import { sameWord } from './domain/feedback.js';

/** A key is kept as its sha256 only. */
export interface ApiKey {
  name: string;
  sha256: Buffer;
  /** The tenant that it is bound to; `*`: none. */
  tenant: string;
  role: Role;
}

/** What is wrong with a list of keys; never shows a key. */
export class KeysError extends Error {
  override readonly name = 'KeysError';
}

export const sha256Of = (key: string): Buffer => createHash('sha256').update(key).digest();

/** Keys in the forms that have neither tenant nor role may do everything, as they always could. */
const unbound = (name: string, key: unknown): ApiKey => {
  if (typeof key !== 'string' || !/^\S{16,}$/.test(key))
    throw new KeysError(`a key must be at least 16 characters without spaces; see ${name}`);
  return { name, sha256: sha256Of(key), tenant: '*', role: 'admin' };
};

const bound = ({ name, sha256, key, tenant, role }: KeyEntry): ApiKey => ({
  name,
  sha256: sha256 === undefined ? sha256Of(key ?? '') : Buffer.from(sha256, 'hex'),
  tenant,
  role,
});

/** The faults of a list, by the name of the entry or its place. */
const parsedList = (list: unknown[]): ApiKey[] => {
  const parsed = z.array(keyEntrySchema).safeParse(list);
  if (parsed.success) return parsed.data.map(bound);
  const faults = parsed.error.issues.map(({ path: [index, ...field], message }) => {
    const name = (list[Number(index)] as { name?: unknown } | null)?.name;
    const which = typeof name === 'string' ? JSON.stringify(name) : `the entry ${Number(index) + 1}`;
    return `${which}: ${[field.join('.'), message].filter((text) => text !== '').join(' ')}`;
  });
  throw new KeysError(`an entry must be {"name","sha256","tenant","role"}; ${faults.join('; ')}`);
};

const parsedJson = (text: string): ApiKey[] => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new KeysError('the JSON does not parse');
  }
  if (Array.isArray(value)) return parsedList(value);
  if (typeof value !== 'object' || value === null) throw new KeysError('the JSON must be an object or a list');
  const { keys } = value as { keys?: unknown };
  if (Array.isArray(keys)) {
    const extra = Object.keys(value).filter((name) => name !== 'keys');
    if (extra.length > 0) throw new KeysError(`beside "keys" there must be nothing; got ${extra.join(', ')}`);
    return parsedList(keys);
  }
  return Object.entries(value).map(([name, key]) => unbound(name, key));
};

const parsedPairs = (text: string): ApiKey[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const end = entry.indexOf(':');
      if (end < 1) throw new KeysError('an entry has no name');
      return unbound(entry.slice(0, end), entry.slice(end + 1));
    });

/** Names are what tells people apart, so no two are alike, in any case; nor are two keys. @throws KeysError */
export const distinctKeys = (keys: readonly ApiKey[]): readonly ApiKey[] => {
  for (const [index, { name, sha256 }] of keys.entries()) {
    const earlier = keys.slice(0, index);
    if (earlier.some((other) => sameWord(other.name, name)))
      throw new KeysError(`the name ${JSON.stringify(name)} stands twice; case is ignored`);
    const same = earlier.find((other) => other.sha256.equals(sha256));
    if (same) throw new KeysError(`${JSON.stringify(same.name)} and ${JSON.stringify(name)} have the same key`);
  }
  return keys;
};

/** Keys as the environment gives them: `name:key,…`, `{"name":"key"}` or a list of entries. @throws KeysError */
export const parseApiKeys = (text: string): readonly ApiKey[] => {
  try {
    return distinctKeys(/^\s*[[{]/.test(text) ? parsedJson(text) : parsedPairs(text));
  } catch (error) {
    if (!(error instanceof KeysError)) throw error;
    throw new KeysError(
      `must be name:key,name:key or {"name":"key"} or a list of {"name","sha256","tenant","role"} or the path of a file; ${error.message}`,
    );
  }
};

/** Whether PARLEY_API_KEYS names a file rather than keys. */
export const isPath = (text: string): boolean => /^\.{0,2}\//.test(text);

/** The text of a key file, or null where there is none. @throws KeysError when it cannot be read */
const textOf = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new KeysError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** The entries of a key file; none where there is no file. @throws KeysError naming the file and every fault */
export const readKeyEntries = (file: string): KeyEntry[] => {
  const text = textOf(file);
  if (text === null) return [];
  try {
    parsedJson(text);
    return keyFileSchema.parse(JSON.parse(text)).keys;
  } catch (error) {
    if (error instanceof KeysError) throw new KeysError(`${file}: ${error.message}`);
    throw new KeysError(`${file} must be {"keys":[…]}, as parley keys writes it`);
  }
};

/** The keys of a file in any of the forms in JSON; none where there is no file. @throws KeysError naming the file */
export const readKeyFile = (file: string): readonly ApiKey[] => {
  const text = textOf(file);
  if (text === null) return [];
  try {
    return distinctKeys(parsedJson(text));
  } catch (error) {
    throw error instanceof KeysError ? new KeysError(`${file}: ${error.message}`) : error;
  }
};
