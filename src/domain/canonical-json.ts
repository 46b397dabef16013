import type { Json } from '../contracts/frames.js';
import { ParleyError } from './errors.js';
import { sha256 } from './sha256.js';

/**
 * JSON in its one canonical form (RFC 8785): no white space, the members of every object in the order of their UTF-16
 * units, numbers and strings as ECMAScript writes them; so that equal values are equal texts. A member that is undefined is
 * left out, as JSON.stringify does.
 * @throws ParleyError invalid_request for what JSON cannot say: NaN, infinities, functions, bigints
 */
export const canonicalJson = (value: unknown): string => {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  throw new ParleyError('invalid_request', `JSON has no ${typeof value === 'number' ? String(value) : typeof value}.`);
};

/** sha256 of the canonical JSON of `value`, in 64 lower-case hexadecimal digits. */
export const digestOf = (value: Json | object): string => sha256(canonicalJson(value));
