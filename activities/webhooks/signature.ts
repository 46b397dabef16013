import { createHmac } from 'node:crypto';

const prefix = 'whsec_';
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const [fewestBytes, mostBytes] = [24, 64];

/**
 * The keys of a secret as Standard Webhooks writes it, several with spaces between them while one takes the place of another.
 * @returns null where it is none
 */
export const signingKeys = (secret: string): Buffer[] | null => {
  const keys = secret
    .trim()
    .split(/\s+/)
    .map((text) => {
      const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
      const key = Buffer.from(encoded, 'base64');
      return base64.test(encoded) && key.length >= fewestBytes && key.length <= mostBytes ? key : null;
    })
    .filter((key) => key !== null);
  return keys.length === secret.trim().split(/\s+/).length ? keys : null;
};

/** The value of webhook-signature: `v1,` and HMAC-SHA256 of id, timestamp (seconds) and body, once for each key. */
export const signatureOf = (keys: readonly Buffer[], id: string, timestamp: number, body: string): string =>
  keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ');
