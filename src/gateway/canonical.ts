import { createHash } from 'node:crypto';

/** JSON with the members of every object in order of their names, so that equal content gives equal text. */
const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Of a parsed body, defaults filled in and without its id: spelling out a default asks for the same thing. */
export const bodyHash = (body: { id?: string | undefined }): string =>
  sha256(canonicalJson({ ...body, id: undefined })).toString('hex');

/** The id that a tenant's Idempotency-Key stands for, on every gateway alike. 160 bits: no two keys share one. */
export const idForKey = (kind: string, tenant: string, key: string): string =>
  `${kind}-${sha256(`${tenant}\n${key}`).subarray(0, 20).toString('hex')}`;
