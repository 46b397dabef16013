import express, { type RequestHandler, type Request, type Response, type Router } from 'express';
import type { Logger } from 'pino';
import { authenticate } from './auth.js';
import { type Fault } from '../faults.js';
import { parseWhole } from '../parse.js';
import { invalidRequest, ProblemError } from './problem.js';
import { readJson } from './read-json.js';
import type { AnyRoute, Call, Ports } from './route.js';
import { sendEvents } from './sse.js';

export interface MountOptions {
  ports: Ports;
  logger: Logger;
  draining: AbortSignal;
  heartbeatMs: number;
}

/** Every fault of a request, of its path, query, headers and body alike, at once. @throws ProblemError invalid_request */
const read = (route: AnyRoute, request: Request): Parameters<AnyRoute['handle']>[0] => {
  const faults: Fault[] = [];
  const part = (schema: Parameters<typeof parseWhole>[0], value: unknown, prefix: string): unknown => {
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
  const json = route.body ? readJson(request) : undefined;
  const input = {
    params: part(route.params, request.params, 'path'),
    query: part(route.query, { ...request.query }, 'query'),
    headers: part(route.headers, request.headers, 'headers'),
    body: route.body ? part(route.body, json, '') : undefined,
  };
  if (faults.length > 0) throw invalidRequest(faults);
  return input;
};

const handlerOf = (route: AnyRoute, { ports, logger, draining, heartbeatMs }: MountOptions): RequestHandler => {
  const isMeasured = route.path.startsWith('/v1/') && route.streams !== true;
  return async (request: Request, response: Response): Promise<void> => {
    if (isMeasured) {
      const end = ports.metrics.requests.startTimer({ route: route.path, method: route.method });
      response.once('finish', () => end({ status: String(response.statusCode) }));
    }
    if (route.access === 'api_key') authenticate(ports.config, request.get('authorization'));
    const input = read(route, request);

    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const id = request.requestId ?? '';
    const log = logger.child({ request_id: id });
    const call: Call = { requestId: id, log, signal: gone.signal, draining };
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
      throw new ProblemError('method_not_allowed', `${request.method} is not taken here; ${allow} is.`, {
        headers: { Allow: allow },
      });
    });
  }
  return router;
};
