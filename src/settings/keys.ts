import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type ApiKey, distinctKeys, isPath, KeysError, parseApiKeys, readKeyFile } from '../api-keys.js';

/** PARLEY_API_KEYS: keys, or the path of a file that holds them. */
export const apiKeysSchema = z
  .string()
  .default('')
  .transform((text, context): { keys: readonly ApiKey[]; file: string | null } => {
    if (isPath(text.trim())) return { keys: [], file: resolve(text.trim()) };
    try {
      return { keys: parseApiKeys(text), file: null };
    } catch (error) {
      if (!(error instanceof KeysError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
      return z.NEVER;
    }
  });

/** What the environment says of keys. */
export interface KeySettings {
  PARLEY_API_KEYS: z.output<typeof apiKeysSchema>;
  PARLEY_KEYS_FILE?: string | undefined;
  PARLEY_DATA: string;
}

/** The one key file: named, or in the data folder, where it need not be. */
export const keysFileOf = ({
  PARLEY_API_KEYS: given,
  PARLEY_KEYS_FILE: named,
  PARLEY_DATA: data,
}: KeySettings): string => given.file ?? resolve(named ?? join(data, 'keys.json'));

/** What is wrong with the keys of the environment and of the file together, and whether there are none. */
export const checkKeys = (
  settings: KeySettings,
): { faults: { variable: keyof KeySettings; message: string }[]; isEmpty: boolean } => {
  const { PARLEY_API_KEYS: given, PARLEY_KEYS_FILE: named } = settings;
  const fault = (variable: keyof KeySettings, message: string) => ({ faults: [{ variable, message }], isEmpty: false });
  if (given.file !== null && named !== undefined) {
    const message = 'must be left out where PARLEY_API_KEYS is the path of a file: there is one key file';
    return fault('PARLEY_KEYS_FILE', message);
  }
  if (given.file !== null && !existsSync(given.file))
    return fault('PARLEY_API_KEYS', `names the file ${given.file}, which is not there`);
  try {
    const keys = distinctKeys([...given.keys, ...readKeyFile(keysFileOf(settings))]);
    return { faults: [], isEmpty: keys.length === 0 };
  } catch (error) {
    if (!(error instanceof KeysError)) throw error;
    return fault(given.file === null ? 'PARLEY_KEYS_FILE' : 'PARLEY_API_KEYS', error.message);
  }
};
