import express, { type RequestHandler, type Request, type Response, type Router } from 'express';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { stranger } from './access.js';
import { invoke } from './invoke.js';
import { ProblemError } from './problem.js';
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

/** A route's body with the schema that reads it: JSON, or text where the route takes any. @throws ProblemError as readJson */
const bodyOf = ({ body, textBody }: AnyRoute, request: Request): { schema: z.ZodType; value: unknown } | null => {
  if (textBody && /^text\/plain\s*(;|$)/i.test(request.get('content-type')?.trim() ?? ''))
    return { schema: textBody.schema, value: typeof request.body === 'string' ? request.body : '' };
  const others = textBody ? ', or lines of text, sent as text/plain' : '';
  return body ? { schema: body, value: readJson(request, others) } : null;
};

const handlerOf = (route: AnyRoute, { ports, logger, draining, heartbeatMs }: MountOptions): RequestHandler => {
  const isMeasured = route.path.startsWith('/v1/') && route.streams !== true;
  return async (request: Request, response: Response): Promise<void> => {
    let isStream = false;
    if (isMeasured) {
      const end = ports.metrics.requests.startTimer({ route: route.path, method: route.method });
      response.once('finish', () => isStream || end({ status: String(response.statusCode) }));
    }
    const caller = route.access === 'api_key' ? ports.access.caller(request.get('authorization')) : stranger;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const id = request.requestId ?? '';
    const log = logger.child({ request_id: id });
    const call: Call = { requestId: id, caller, log, signal: gone.signal, draining };
    const { params, query, headers } = request;
    const body = () => bodyOf(route, request);
    const reply = await invoke(route, { params: params as Record<string, string>, query, headers, body }, ports, call);
    if (gone.signal.aborted) return;

    if ('messages' in reply) {
      isStream = true;
      ports.metrics.streams.inc();
      try {
        response.set(reply.headers ?? {});
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
    response.status(reply.status).set(reply.headers ?? {});
    if (reply.body === null) response.end();
    else response.json(reply.body);
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
