import type { Role } from '../../contracts/access.js';
import type { CommandContext } from '../context.js';
import { exitCodes } from '../errors.js';
import { addKey, keyFileOf, keysIn, revokeKey } from '../key-file.js';

export interface AddKeyOptions {
  tenant: string;
  role: Role;
}

const scope = (tenant: string): string => (tenant === '*' ? 'every tenant' : `tenant ${tenant}`);

/** `parley keys add NAME`: makes a key and shows it this once; the file keeps its sha256. */
export const addApiKey = async (
  name: string,
  { tenant, role }: AddKeyOptions,
  context: CommandContext,
): Promise<number> => {
  const file = keyFileOf(context.env);
  const { key, isFirst } = addKey(file, { name, tenant, role }, new Date());
  if (context.json) context.out(JSON.stringify({ name, key, tenant, role, file }, null, 2));
  else {
    context.out(key);
    context.note(`The key of ${name}: ${role}, ${scope(tenant)}. It is shown this once; ${file} keeps its sha256.`);
    if (isFirst) context.note('A gateway that was open asks for keys from now on.');
  }
  return exitCodes.ok;
};

/** `parley keys list`. */
export const listApiKeys = async (context: CommandContext): Promise<number> => {
  const file = keyFileOf(context.env);
  const keys = keysIn(file).map(({ name, tenant, role, added_at: addedAt }) => ({
    name,
    tenant,
    role,
    added_at: addedAt ?? null,
  }));
  if (context.json) context.out(JSON.stringify({ file, keys }, null, 2));
  else if (keys.length === 0) context.out(`No keys in ${file}. Make one: parley keys add NAME --role operator`);
  else {
    for (const { name, tenant, role, added_at: addedAt } of keys)
      context.out(
        `${name.padEnd(24)}  ${role.padEnd(8)}  ${scope(tenant).padEnd(24)}  ${addedAt?.slice(0, 10) ?? ''}`.trimEnd(),
      );
  }
  return exitCodes.ok;
};

/** `parley keys revoke NAME`: running gateways refuse the key from their next request on. */
export const revokeApiKey = async (name: string, context: CommandContext): Promise<number> => {
  const file = keyFileOf(context.env);
  revokeKey(file, name);
  if (context.json) context.out(JSON.stringify({ name, revoked: true, file }, null, 2));
  else context.out(`revoked ${name}`);
  return exitCodes.ok;
};
