import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { type ApiKey, distinctKeys, readKeyFile, sha256Of } from '../api-keys.js';
import type { Caller, Role } from '../contracts/access.js';
import { bearer } from './auth.js';
import { ProblemError } from './problem.js';

/** What a route lets be done: `read` looks, `operate` starts and steers, `approve` answers feedback. */
export type Need = 'read' | 'operate' | 'approve';

const allowed: Record<Role, readonly Need[]> = {
  viewer: ['read'],
  operator: ['read', 'operate'],
  approver: ['read', 'approve'],
  admin: ['read', 'operate', 'approve'],
};

const rolesFor = (need: Need): string =>
  (Object.keys(allowed) as Role[]).filter((role) => allowed[role].includes(need)).join(' or ');

/** Who calls, by the keys of the environment and of the key file, which is read again when it changes. */
export interface Access {
  /** Whether no keys are set, so that whoever reaches the loopback address may do everything. */
  isOpen(): boolean;
  /** @throws ProblemError unauthorized */
  caller(authorization: string | undefined): Caller;
  /** Name of the key, or null for none that is known; refuses nobody. */
  nameOf(authorization: string | undefined): string | null;
}

/** Without keys. */
export const local: Caller = { name: 'local', tenant: '*', role: 'admin', authenticated: false };
/** On routes that ask for no key of ours. */
export const stranger: Caller = { name: 'unknown', tenant: '*', role: 'viewer', authenticated: false };

/** The key that `token` is, or null; takes the same time for every key that is not it. */
const findKey = (keys: readonly ApiKey[], token: string): ApiKey | null => {
  const digest = sha256Of(token);
  let found: ApiKey | null = null;
  for (const key of keys) if (timingSafeEqual(key.sha256, digest)) found = key;
  return found;
};

const challenge = { 'WWW-Authenticate': 'Bearer realm="parley"' };

/** What tells one state of a file from another; a file that is replaced has another inode. */
const stateOf = (file: string): string => {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
};

/**
 * A file that cannot be read any more leaves the keys as they were, and one whose last key is revoked leaves the gateway
 * closed: what was closed once is never opened by a mistake, only by a new start.
 */
export const createAccess = (
  { apiKeys, keysFile }: { apiKeys: readonly ApiKey[]; keysFile: string },
  onError: (error: unknown) => void,
): Access => {
  let state: string | null = null;
  let keys: readonly ApiKey[] = apiKeys;
  let wasClosed = false;
  const current = (): readonly ApiKey[] => {
    const now = stateOf(keysFile);
    if (now !== state) {
      state = now;
      try {
        keys = distinctKeys([...apiKeys, ...readKeyFile(keysFile)]);
      } catch (error) {
        onError(error);
      }
      wasClosed ||= keys.length > 0;
    }
    return keys;
  };
  const isOpen = (): boolean => current().length === 0 && !wasClosed;
  const keyOf = (authorization: string | undefined): ApiKey | null => {
    const token = bearer(authorization);
    return token === null ? null : findKey(current(), token);
  };
  return {
    isOpen,
    caller: (authorization) => {
      if (isOpen()) return local;
      const key = keyOf(authorization);
      if (key) return { name: key.name, tenant: key.tenant, role: key.role, authenticated: true };
      const detail =
        bearer(authorization) === null
          ? 'Send Authorization: Bearer KEY with a key of PARLEY_API_KEYS or of parley keys add.'
          : 'This key is none of PARLEY_API_KEYS and none of the key file; it may have been revoked.';
      throw new ProblemError('unauthorized', detail, { headers: challenge });
    },
    nameOf: (authorization) => keyOf(authorization)?.name ?? null,
  };
};

/** @throws ProblemError forbidden naming the roles that may */
export const permit = ({ name, role }: Caller, need: Need, what: string): void => {
  if (allowed[role].includes(need)) return;
  throw new ProblemError(
    'forbidden',
    `The key ${name} has the role ${role}, which may ${allowed[role].join(' and ')}; ${what} needs ${rolesFor(need)}.`,
  );
};

/** Whether a caller may know of something that belongs to `tenant` (spec 08 "tenants never see each other"). */
export const visibleTo = (caller: Caller, tenant: string): boolean => caller.tenant === '*' || caller.tenant === tenant;

/**
 * The tenant that a request is about: the one it names, else, for a caller who is bound to one, that one.
 * @throws ProblemError forbidden for another tenant than the caller's
 */
export const tenantFor = (caller: Caller, named: string | undefined): string | undefined => {
  if (caller.tenant === '*') return named;
  if (named === undefined || named === caller.tenant) return caller.tenant;
  throw new ProblemError(
    'forbidden',
    `The key ${caller.name} belongs to the tenant ${caller.tenant}; got ${JSON.stringify(named)}. Leave tenant out, or name ${caller.tenant}.`,
  );
};
