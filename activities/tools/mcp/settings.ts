import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { ParleyError } from '../../../src/domain/errors.js';
import { isObject } from '../../../src/domain/model-json.js';
import { parseWhole } from '../../../src/parse.js';
import { expanded } from './variables.js';

/** Milliseconds that a call may take where a server's settings say nothing. */
const presetCallMs = 60_000;

const textSchema = z.string().max(10_000);
const variablesSchema = z.record(z.string().min(1).max(200), textSchema).default({});
const timeoutSchema = (longestMs: number) => z.number().int().min(1).max(longestMs).default(presetCallMs);
const disabled = z.boolean().default(false);

const stdioSchema = z.strictObject({
  type: z.literal('stdio').optional(),
  command: textSchema.min(1, 'must name a program'),
  args: z.array(textSchema).max(1_000).default([]),
  env: variablesSchema,
  cwd: textSchema.optional(),
  timeout_ms: timeoutSchema(3_600_000),
  disabled,
});

const httpSchema = z.strictObject({
  type: z.enum(['http', 'streamable-http']).optional(),
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  headers: variablesSchema,
  /** A connection that is silent for longer is ended. */
  timeout_ms: timeoutSchema(300_000),
  disabled,
});

/** How one server is reached; every variable stands for its value. */
export type McpServerSettings = { name: string; timeoutMs: number } & (
  | { command: string; args: string[]; env: Record<string, string>; cwd: string | undefined }
  | { url: string; headers: Record<string, string> }
);

const serverName = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Words by which a setting says that it is a secret. */
const secretName = /authorization|token|secret|password|passwd|api[-_]?key|credential|cookie/i;

/** A secret has no place in a file that others may read: it comes from the environment. */
const secretFaults = (given: unknown, path: string): string[] => {
  if (!isObject(given)) return [];
  return ['env', 'headers'].flatMap((group) => {
    const members = given[group];
    if (!isObject(members)) return [];
    return Object.entries(members).flatMap(([name, value]) =>
      secretName.test(name) && typeof value === 'string' && value !== '' && !value.includes('${')
        ? [`${path}.${group}.${name} must come from the environment: write "\${MY_VARIABLE}" in place of the secret`]
        : [],
    );
  });
};

/** One server of the file, or what is wrong with it. Secrets are never told. */
const serverOf = (
  name: string,
  given: unknown,
  environment: Environment,
): { server: McpServerSettings | null } | { faults: string[] } => {
  const path = `mcpServers.${name}`;
  const faults = secretFaults(given, path);
  if (!serverName.test(name))
    faults.push(
      `${path}: a name has 1 to 32 letters, digits, "-" or "_", not two "_" in a row, and begins with a letter or digit`,
    );
  if (!isObject(given)) return { faults: [...faults, `${path} must be an object with a command or a url`] };
  if (given['type'] === 'sse')
    return {
      faults: [...faults, `${path}.type "sse" is not spoken; name the server's streamable HTTP endpoint as "http"`],
    };
  if ('command' in given === 'url' in given)
    return { faults: [...faults, `${path} must have a command (stdio) or a url (HTTP), and not both`] };
  const { value, missing } = expanded(given, environment);
  for (const variable of missing)
    faults.push(
      `${path} names \${${variable}}, which is not set in the worker's environment; set it, or write \${${variable}:-preset}`,
    );
  const parsed = 'command' in given ? parseWhole(stdioSchema, value) : parseWhole(httpSchema, value);
  if (!parsed.ok) {
    // A fault of what was expanded would show it.
    const told = parsed.faults.map(
      ({ path: at, message }) => `${path}${at === '' ? '' : `.${at}`} ${message.replace(/; got .*$/s, '')}`,
    );
    return { faults: [...faults, ...told] };
  }
  if (faults.length > 0) return { faults };
  const { timeout_ms: timeoutMs, disabled: isOff, type: _, ...rest } = parsed.value;
  if (isOff) return { server: null };
  return { server: 'command' in rest ? { name, timeoutMs, ...rest, cwd: rest.cwd } : { name, timeoutMs, ...rest } };
};

/**
 * The servers of a text, JSON or YAML, in the shape that other programs use too: {"mcpServers": {"name": {"command", "args", "env"} or
 * {"url", "headers"}}}. `${VARIABLE}` and `${VARIABLE:-preset}` stand for the worker's environment.
 * @throws ParleyError invalid_request that names every fault
 */
export const mcpServersIn = (text: string, environment: Environment): McpServerSettings[] => {
  const refuse = (faults: readonly string[]): ParleyError => new ParleyError('invalid_request', faults.join('; '));
  let given: unknown;
  try {
    given = parse(text);
  } catch (error) {
    throw refuse([
      `it is neither JSON nor YAML: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    ]);
  }
  const servers = isObject(given) ? given['mcpServers'] : undefined;
  if (!isObject(given) || !isObject(servers))
    throw refuse(['it must hold one object, {"mcpServers": {"a-name": {...}}}']);
  const others = Object.keys(given).filter((key) => key !== 'mcpServers');
  const faults = others.map((key) => `${key} is not known; there is mcpServers alone`);
  const read = Object.entries(servers).map(([name, server]) => serverOf(name, server, environment));
  faults.push(...read.flatMap((one) => ('faults' in one ? one.faults : [])));
  if (faults.length > 0) throw refuse(faults);
  return read.flatMap((one) => ('server' in one && one.server ? one.server : []));
};

/**
 * As `mcpServersIn`, of the operator's file.
 * @throws ParleyError invalid_request that names the file and every fault
 */
export const readMcpServers = (file: string | null, environment: Environment): McpServerSettings[] => {
  if (file === null) return [];
  try {
    return mcpServersIn(readFileSync(file, 'utf8'), environment);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ParleyError('invalid_request', `PARLEY_MCP_SERVERS (${file}) cannot be used: ${why}.`);
  }
};
