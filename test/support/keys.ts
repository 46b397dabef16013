import { createHash } from 'node:crypto';

/** The API key of somebody in a test. */
export const keyOf = (name: string): string => `key-of-${name}-0123456789`;

/** Its entry in PARLEY_API_KEYS, which holds no secret. */
export const keyEntry = (name: string, role: string, tenant = '*') => ({
  name,
  role,
  tenant,
  sha256: createHash('sha256').update(keyOf(name)).digest('hex'),
});
