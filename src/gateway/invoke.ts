import { z } from 'zod';
import type { Caller } from '../contracts/access.js';
import type { Fault } from '../faults.js';
import { parseWhole } from '../parse.js';
import { permit, tenantFor, visibleTo } from './access.js';
import { inBodyOrder } from './in-body-order.js';
import { invalidRequest, ProblemError } from './problem.js';
import type { AnyRoute, BytesReply, Call, MarkdownReply, Ports, Reply, StreamReply } from './route.js';

/** What a caller gives a route, from wherever it came; a part that is left out is empty. */
export interface Given {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  /** By lower-case name. */
  headers?: Readonly<Record<string, unknown>>;
  /** The body with the schema that reads it; null: the route takes none. @throws ProblemError where it cannot be read at all */
  body?: () => { schema: z.ZodType; value: unknown } | null;
}

type Input = Parameters<AnyRoute['handle']>[0];
type AnyReply = Reply<AnyRoute['responses']> | StreamReply | BytesReply | MarkdownReply;

const takesTenant = (schema: z.ZodType): boolean => schema instanceof z.ZodObject && 'tenant' in schema.shape;

/** What asks for a tenant, asks for the caller's. @throws ProblemError forbidden for another */
const withTenant = (schema: z.ZodType, value: unknown, caller: Caller): unknown => {
  if (caller.tenant === '*' || !takesTenant(schema)) return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value; // the schema says what it should be
  const { tenant } = value as { tenant?: unknown };
  return tenant === undefined || typeof tenant === 'string' ? { ...value, tenant: tenantFor(caller, tenant) } : value;
};

/** @throws ProblemError forbidden */
const admit = (route: AnyRoute, caller: Caller): void => {
  const what = `${route.method.toUpperCase()} ${route.path}`;
  permit(caller, route.needs ?? (route.method === 'get' ? 'read' : 'operate'), what);
  if (route.allTenants !== true || caller.tenant === '*') return;
  throw new ProblemError(
    'forbidden',
    `The key ${caller.name} belongs to the tenant ${caller.tenant}; ${what} needs a key of every tenant ("*").`,
  );
};

/** What belongs to another tenant is not there, in the same words as what is not there at all. @throws ProblemError not_found */
const checkOwner = async (route: AnyRoute, params: unknown, caller: Caller, ports: Ports): Promise<void> => {
  if (!route.owner || caller.tenant === '*') return;
  const { tenant, what } = await route.owner(params, ports);
  if (!visibleTo(caller, tenant)) throw new ProblemError('not_found', `There is no ${what}.`);
};

/** Every fault of a request, of its path, query, headers and body alike, at once. @throws ProblemError invalid_request */
const read = (route: AnyRoute, from: Given, caller: Caller, ports: Ports): Input => {
  const faults: Fault[] = [];
  const part = (schema: z.ZodType, value: unknown, prefix: string): unknown => {
    const parsed = parseWhole(schema, value);
    if (parsed.ok) return parsed.value;
    faults.push(
      ...parsed.faults.map(({ path, message }) => ({
        path: [prefix, path].filter((text) => text !== '').join('.'),
        message,
      })),
    );
    return undefined;
  };
  // Before the rest: a body that cannot be read is another problem than one with faults.
  const body = from.body?.() ?? null;
  const around = {
    params: part(route.params, from.params ?? {}, 'path'),
    query: part(route.query, withTenant(route.query, { ...from.query }, caller), 'query'),
    headers: part(route.headers, from.headers ?? {}, 'headers'),
  };
  const ofAround = faults.splice(0);
  const given = body ? withTenant(body.schema, body.value, caller) : undefined;
  const input = { ...around, body: body ? part(body.schema, given, '') : undefined };
  if (ofAround.length + faults.length === 0) return input;
  const inside = route.faultsInside?.(given, ports, { caller });
  throw invalidRequest([...ofAround, ...(inside ? inBodyOrder(given, [...faults, ...inside]) : faults)]);
};

/** The answer's body as its contract has it. @throws ProblemError internal: our own bad output is never the caller's fault */
const checked = (route: AnyRoute, reply: Reply<AnyRoute['responses']>): Reply<AnyRoute['responses']> => {
  const contract = route.responses[reply.status];
  const body = contract?.schema.safeParse(reply.body);
  if (body?.success) return { ...reply, body: body.data };
  throw new ProblemError('internal', 'The gateway made an answer that breaks its own contract.', {
    cause: body?.error ?? new Error(`${route.path} has no response ${String(reply.status)}`),
  });
};

/**
 * One call of a route, whatever brought it: HTTP, or another protocol that offers the same. Who calls must be allowed to, every
 * fault is told at once, and what belongs to another tenant is not there.
 * @throws ProblemError or ParleyError
 */
export const invoke = async (route: AnyRoute, given: Given, ports: Ports, call: Call): Promise<AnyReply> => {
  if (route.access === 'api_key') admit(route, call.caller);
  const input = read(route, given, call.caller, ports);
  await checkOwner(route, input.params, call.caller, ports);
  const reply = await route.handle(input, ports, call);
  return 'body' in reply ? checked(route, reply) : reply;
};

/** The body of a route's answer, of one that answers in JSON. @throws as `invoke` */
export const answerOf = async (
  route: AnyRoute,
  { body, ...given }: Omit<Given, 'body'> & { body?: unknown },
  ports: Ports,
  call: Call,
): Promise<Reply<AnyRoute['responses']>> => {
  const { body: schema } = route;
  const reply = await invoke(route, { ...given, body: () => schema && { schema, value: body } }, ports, call);
  if ('body' in reply) return reply;
  throw new ProblemError('internal', 'A route that answers in JSON was expected.', { cause: new Error(route.path) });
};

/** @throws Error when the table has no such route: a fault of this build */
export const findRoute = (routes: readonly AnyRoute[], method: AnyRoute['method'], path: string): AnyRoute => {
  const found = routes.find((route) => route.method === method && route.path === path);
  if (found) return found;
  throw new Error(`no route ${method.toUpperCase()} ${path}`);
};
