import { createHash } from 'node:crypto';
import { canonicalJson } from '../domain/canonical-json.js';

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Of a parsed body, defaults filled in and without its id: spelling out a default asks for the same thing. */
export const bodyHash = (body: { id?: string | undefined }): string =>
  sha256(canonicalJson({ ...body, id: undefined })).toString('hex');

/** The id that a tenant's Idempotency-Key stands for, on every gateway alike. 160 bits: no two keys share one. */
export const idForKey = (kind: string, tenant: string, key: string): string =>
  `${kind}-${sha256(`${tenant}\n${key}`).subarray(0, 20).toString('hex')}`;
