import { createHash, timingSafeEqual } from 'node:crypto';
import { type ApiKey, type Config, isLoopback } from '../config.js';
import { ProblemError } from './problem.js';

/** The token of `Authorization: Bearer …`, or null. */
export const bearer = (header: string | undefined): string | null =>
  /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;

/** The key that `token` is, or null; takes the same time for every key that is not it. */
const findKey = (keys: readonly ApiKey[], token: string): ApiKey | null => {
  const digest = createHash('sha256').update(token).digest();
  let found: ApiKey | null = null;
  for (const key of keys) if (timingSafeEqual(key.sha256, digest)) found = key;
  return found;
};

const challenge = { 'WWW-Authenticate': 'Bearer realm="parley"' };

/**
 * Who calls, when the operator has set keys; null on an open loopback gateway (spec 08 "Access").
 * @throws ProblemError unauthorized
 */
export const authenticate = (config: Config, authorization: string | undefined): ApiKey | null => {
  if (config.apiKeys.length === 0) return null;
  const token = bearer(authorization);
  if (token === null) {
    throw new ProblemError('unauthorized', 'Send Authorization: Bearer KEY with a key of PARLEY_API_KEYS.', {
      headers: challenge,
    });
  }
  const key = findKey(config.apiKeys, token);
  if (!key) throw new ProblemError('unauthorized', 'This key is not one of PARLEY_API_KEYS.', { headers: challenge });
  return key;
};

const hostName = (header: string): string => header.replace(/:\d+$/, '').toLowerCase();

/**
 * Without keys only the machine itself may call, but a page of a foreign site whose name resolves to 127.0.0.1 would pass
 * as such (DNS rebinding): its requests carry the foreign name in Host.
 * @throws ProblemError forbidden_host
 */
export const checkHost = (config: Config, host: string | undefined): void => {
  if (config.apiKeys.length > 0) return;
  const name = hostName(host ?? '');
  if (isLoopback(name) || name === config.host.toLowerCase()) return;
  throw new ProblemError(
    'forbidden_host',
    `Without PARLEY_API_KEYS only localhost, 127.0.0.1 and [::1] are served; got the host ${JSON.stringify(name)}.`,
  );
};
