import express, { type ErrorRequestHandler, type Express } from 'express';
import { ipKeyGenerator, rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';
import { checkHost } from './auth.js';
import { jsonRpcError } from './json-rpc-errors.js';
import { mountRoutes } from './mount.js';
import { isOpenAiPath, openAiError } from './openai/errors.js';
import { openApiDocument } from './openapi.js';
import { pageRouter } from './page.js';
import { problemDocument, ProblemError, toProblemError } from './problem.js';
import { requestId } from './request-id.js';
import type { Ports } from './route.js';
import { codecOrigin } from './routes/codec.js';
import { docsRouter } from './routes/docs.js';
import { routes } from './routes/index.js';
import { version as ownVersion } from './version.js';

export interface AppOptions {
  ports: Ports;
  logger: Logger;
  draining: AbortSignal;
  /** Milliseconds between the comments that keep a quiet event stream alive. */
  heartbeatMs?: number;
  version?: string;
}

const probes = new Set(['/healthz', '/readyz', '/metrics']);

/** The first names of the paths under /v1, each once. */
const served = [...new Set(routes.flatMap(({ path }) => /^\/v1\/([^/]+)/.exec(path)?.[1] ?? []))];

/** What exists under /v1, for those who ask for something else. */
const notHere = (path: string): ProblemError => {
  const there = served.map((name) => `/v1/${name}`).join(', ');
  const what = `Nothing is at ${path.slice(0, 200)}; there are ${there}`;
  return new ProblemError('not_found', `${what}, /healthz, /readyz, /metrics, /openapi.json and /docs.`);
};

/** Everything the gateway serves, as an Express app that listens nowhere yet. */
export const createApp = ({
  ports,
  logger,
  draining,
  heartbeatMs = 15_000,
  version = ownVersion,
}: AppOptions): Express => {
  const { config, metrics } = ports;
  const app = express();
  app.disable('x-powered-by');
  app.use(requestId());
  app.use(
    pinoHttp({
      logger,
      genReqId: (request) => request.requestId ?? '',
      autoLogging: { ignore: (request) => probes.has(request.url ?? '') },
      customLogLevel: (_request, response, error) =>
        error || response.statusCode >= 500 ? 'error' : response.statusCode >= 400 ? 'warn' : 'info',
      // Headers may hold keys, queries may hold texts: a line says what was asked for and how it went.
      serializers: {
        req: (request: { id: unknown; method: string; url: string }) => ({
          id: request.id,
          method: request.method,
          url: request.url.split('?')[0],
        }),
        res: (response: { statusCode: number }) => ({ status: response.statusCode }),
      },
    }),
  );
  app.use(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'", 'data:'],
          fontSrc: ["'self'"],
          connectSrc: ["'self'"],
          formAction: ["'self'"],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      // TLS ends at a proxy, if anywhere: the header would lock plain localhost out.
      strictTransportSecurity: false,
    }),
  );
  app.use((request, _response, next) => {
    if (!probes.has(request.path) && ports.access.isOpen()) checkHost(config, request.get('host'));
    next();
  });
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  app.use(
    ['/v1', '/mcp', '/a2a', '/.well-known'],
    rateLimit({
      windowMs: 60_000,
      limit: config.rateLimit,
      // A key counts by itself, from wherever it is used; who has none counts by address.
      keyGenerator: (request) => ports.access.nameOf(request.get('authorization')) ?? ipKeyGenerator(request.ip ?? ''),
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      handler: (_request, response, next) => {
        const seconds = response.getHeader('Retry-After');
        next(
          new ProblemError(
            'rate_limited',
            `More than ${config.rateLimit} requests in a minute; try again in ${String(seconds)} s.`,
            { headers: { 'Retry-After': String(seconds ?? 60) } },
          ),
        );
      },
    }),
  );
  app.use('/codec', codecOrigin(config));
  app.use(mountRoutes(routes, { ports, logger, draining, heartbeatMs }));
  app.use(docsRouter(() => openApiDocument(routes, version)));
  app.use(pageRouter());
  app.use((request) => {
    throw notHere(request.path);
  });

  const answerProblem: ErrorRequestHandler = (error: unknown, request, response, next) => {
    const problem = toProblemError(error);
    const id = request.requestId ?? '';
    if (problem.code === 'internal') {
      logger.error({ err: problem.options.cause ?? error, request_id: id }, 'request failed');
    }
    if (response.headersSent) return next(error);
    if (isOpenAiPath(request.path)) {
      const { status, body, headers } = openAiError(problem);
      response.status(status).set(headers).set('Cache-Control', 'no-store').json(body);
      return;
    }
    const told = jsonRpcError(request.path, problem);
    if (told !== null) {
      response.status(400).set('Cache-Control', 'no-store').json(told);
      return;
    }
    const document = problemDocument(problem, id);
    response
      .status(document.status)
      .set(problem.options.headers ?? {})
      .set('Cache-Control', 'no-store')
      .type('application/problem+json')
      .send(JSON.stringify(document));
  };
  app.use(answerProblem);
  return app;
};
