import express, { type RequestHandler, type Request, type Response, type Router } from 'express';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Caller } from '../contracts/access.js';
import { permit, stranger, tenantFor, visibleTo } from './access.js';
import { type Fault } from '../faults.js';
import { parseWhole } from '../parse.js';
import { inBodyOrder } from './in-body-order.js';
import { invalidRequest, ProblemError } from './problem.js';
import { readJson } from './read-json.js';
import type { AnyRoute, Call, Ports } from './route.js';
import { sendBytes } from './send-bytes.js';
import { sendEvents } from './sse.js';

export interface MountOptions {
  ports: Ports;
  logger: Logger;
  draining: AbortSignal;
  heartbeatMs: number;
}

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

/** A route's body with the schema that reads it: JSON, or text where the route takes any. @throws ProblemError as readJson */
const bodyOf = ({ body, textBody }: AnyRoute, request: Request): { schema: z.ZodType; value: unknown } | null => {
  if (textBody && /^text\/plain\s*(;|$)/i.test(request.get('content-type')?.trim() ?? ''))
    return { schema: textBody.schema, value: typeof request.body === 'string' ? request.body : '' };
  const others = textBody ? ', or lines of text, sent as text/plain' : '';
  return body ? { schema: body, value: readJson(request, others) } : null;
};

/** Every fault of a request, of its path, query, headers and body alike, at once. @throws ProblemError invalid_request */
const read = (route: AnyRoute, request: Request, caller: Caller, ports: Ports): Parameters<AnyRoute['handle']>[0] => {
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
  const body = bodyOf(route, request);
  const around = {
    params: part(route.params, request.params, 'path'),
    query: part(route.query, withTenant(route.query, { ...request.query }, caller), 'query'),
    headers: part(route.headers, request.headers, 'headers'),
  };
  const ofAround = faults.splice(0);
  const given = body ? withTenant(body.schema, body.value, caller) : undefined;
  const input = { ...around, body: body ? part(body.schema, given, '') : undefined };
  if (ofAround.length + faults.length === 0) return input;
  const inside = route.faultsInside?.(given, ports, { caller });
  throw invalidRequest([...ofAround, ...(inside ? inBodyOrder(given, [...faults, ...inside]) : faults)]);
};

const handlerOf = (route: AnyRoute, { ports, logger, draining, heartbeatMs }: MountOptions): RequestHandler => {
  const isMeasured = route.path.startsWith('/v1/') && route.streams !== true;
  return async (request: Request, response: Response): Promise<void> => {
    if (isMeasured) {
      const end = ports.metrics.requests.startTimer({ route: route.path, method: route.method });
      response.once('finish', () => end({ status: String(response.statusCode) }));
    }
    const caller = route.access === 'api_key' ? ports.access.caller(request.get('authorization')) : stranger;
    if (route.access === 'api_key') admit(route, caller);
    const input = read(route, request, caller, ports);
    await checkOwner(route, input.params, caller, ports);

    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const id = request.requestId ?? '';
    const log = logger.child({ request_id: id });
    const call: Call = { requestId: id, caller, log, signal: gone.signal, draining };
    const reply = await route.handle(input, ports, call);
    if (gone.signal.aborted) return;

    if ('messages' in reply) {
      ports.metrics.streams.inc();
      try {
        await sendEvents(response, reply.messages, { heartbeatMs, signal: gone.signal });
      } catch (error) {
        // The status line has gone out: the client sees a cut stream, connects again and resumes.
        log.error({ err: error }, 'event stream failed');
        response.destroy();
      } finally {
        ports.metrics.streams.dec();
      }
      return;
    }
    if ('content' in reply) {
      try {
        await sendBytes(request, response, reply, gone.signal);
      } catch (error) {
        if (!response.headersSent) throw error;
        log.error({ err: error }, 'a file could not be read to its end');
        response.destroy();
      }
      return;
    }
    if ('markdown' in reply) {
      response.status(reply.status).vary('Accept').type('text/markdown').send(reply.markdown);
      return;
    }
    const contract = route.responses[reply.status];
    const checked = contract?.schema.safeParse(reply.body);
    if (!checked?.success) {
      throw new ProblemError('internal', 'The gateway made an answer that breaks its own contract.', {
        cause: checked?.error ?? new Error(`${route.path} has no response ${String(reply.status)}`),
      });
    }
    response
      .status(reply.status)
      .set(reply.headers ?? {})
      .json(checked.data);
  };
};

/** `{id}` of OpenAPI as Express writes it. */
const expressPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

/** Mounts the table; a path with another method answers 405 and names those it takes. */
export const mountRoutes = (routes: readonly AnyRoute[], options: MountOptions): Router => {
  const router = express.Router();
  const readText = express.text({ type: () => true, limit: '1mb' });
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const path = expressPath(route.path);
    methods.set(path, [...(methods.get(path) ?? []), route.method.toUpperCase()]);
    router[route.method](path, ...(route.body ? [readText] : []), handlerOf(route, options));
  }
  for (const [path, taken] of methods) {
    const allow = taken.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    router.all(path, (request) => {
      throw new ProblemError('method_not_allowed', `This path takes ${allow}; got ${request.method}.`, {
        headers: { Allow: allow },
      });
    });
  }
  return router;
};
