import type { Config } from '../config.js';
import { isLoopback } from '../settings/loopback.js';
import { ProblemError } from './problem.js';

/** The token of `Authorization: Bearer …`, or null. */
export const bearer = (header: string | undefined): string | null =>
  /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;

const hostName = (header: string): string => header.replace(/:\d+$/, '').toLowerCase();

/**
 * Without keys only the machine itself may call, but a page of a foreign site whose name resolves to 127.0.0.1 would pass
 * as such (DNS rebinding): its requests carry the foreign name in Host.
 * @throws ProblemError forbidden_host
 */
export const checkHost = (config: Pick<Config, 'host'>, host: string | undefined): void => {
  const name = hostName(host ?? '');
  if (isLoopback(name) || name === config.host.toLowerCase()) return;
  throw new ProblemError(
    'forbidden_host',
    `Without PARLEY_API_KEYS only localhost, 127.0.0.1 and [::1] are served; got the host ${JSON.stringify(name)}.`,
  );
};
