import type { z } from 'zod';
import { artifactHashSchema } from '../../src/contracts/artifact.js';
import { tenantSchema } from '../../src/contracts/work.js';
import { ParleyError } from '../../src/domain/errors.js';

/** Names become paths and keys: nothing else than a name may. @throws ParleyError invalid_request */
const checked = (schema: z.ZodType<string>, value: string): string => {
  const { error } = schema.safeParse(value);
  if (!error) return value;
  const why = error.issues.map(({ message }) => message).join('; ');
  throw new ParleyError('invalid_request', `${JSON.stringify(value)} names no artifact: it ${why}`);
};

export const tenantName = (tenant: string): string => checked(tenantSchema, tenant);

/** The 64 digits of a digest. */
export const digitsOf = (hash: string): string => checked(artifactHashSchema, hash).slice('sha256:'.length);

/** The digest that 64 digits stand for, or null for any other text: what others have put into a store is no artifact. */
export const hashOf = (digits: string): string | null => {
  const hash = `sha256:${digits}`;
  return artifactHashSchema.safeParse(hash).success ? hash : null;
};

export const isTenantName = (text: string): boolean => tenantSchema.safeParse(text).success;
