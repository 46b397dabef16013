import { types } from 'node:util';
import { Agent, buildConnector, Client, DecoratorHandler, type Dispatcher, Pool, fetch as undiciFetch } from 'undici';
import { withoutCredentials } from '../../src/contracts/url.js';
import { type ErrorCode, ParleyError } from '../../src/domain/errors.js';
import { limitWrites } from './write-limit.js';

/** Numbers of details 3.5; the counts come from PARLEY_MAX_KEEPALIVE_CONNECTIONS and PARLEY_MAX_CONNECTIONS. */
const keepAliveMs = 30_000;
const connectTimeoutMs = 10_000;
const readTimeoutMs = 120_000;
const writeTimeoutMs = 10_000;

const connectTo = buildConnector({ timeout: connectTimeoutMs });
const connect: buildConnector.connector = (options, callback) =>
  connectTo(options, (...[error, socket]) => {
    if (error) return callback(error, null);
    limitWrites(socket, writeTimeoutMs);
    callback(null, socket);
  });

export type Environment = Readonly<Record<string, string | undefined>>;

const countFrom = (environment: Environment, name: string, least: number, fallback: number): number => {
  const given = environment[name];
  if (given === undefined || given === '') return fallback;
  const count = Number(given);
  if (Number.isInteger(count) && count >= least) return count;
  throw new ParleyError(
    'invalid_request',
    `${name} must be a whole number from ${least}; got ${JSON.stringify(given)}`,
  );
};

/**
 * Connections to agents and models, per origin: at most `PARLEY_MAX_CONNECTIONS` (100) at once, of which the first
 * `PARLEY_MAX_KEEPALIVE_CONNECTIONS` (20) are kept open between calls.
 */
export const createConnections = (environment: Environment): Agent => {
  const kept = countFrom(environment, 'PARLEY_MAX_KEEPALIVE_CONNECTIONS', 0, 20);
  const connections = countFrom(environment, 'PARLEY_MAX_CONNECTIONS', 1, 100);
  return new Agent({
    factory: (origin, agentOptions) => {
      let keeping = 0;
      return new Pool(origin, {
        ...(agentOptions as Pool.Options),
        connections,
        factory: (poolOrigin, poolOptions) => {
          const keep = keeping < kept;
          // undici: pipelining 0 closes the connection after each response.
          const client = new Client(poolOrigin, { ...(poolOptions as Client.Options), pipelining: keep ? 1 : 0 });
          if (keep) {
            keeping += 1;
            // The pool drops a client that could not connect, so its place is free again.
            client.once('connectionError', () => {
              keeping -= 1;
            });
          }
          return client;
        },
      });
    },
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    headersTimeout: readTimeoutMs,
    bodyTimeout: readTimeoutMs,
    connect,
  });
};

class DispatchWatch extends DecoratorHandler implements Dispatcher.DispatchHandler {
  constructor(
    handler: Dispatcher.DispatchHandler,
    private readonly onStart: () => void,
  ) {
    super(handler);
  }
  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.onStart();
    const base = DecoratorHandler.prototype as Dispatcher.DispatchHandler;
    base.onRequestStart?.call(this, controller, context);
  }
}

/**
 * A fetch over the pool for one call, and the moment it was dispatched: when a connection carries its first request. The
 * moment does not come when nothing listens there; then the fetch rejects.
 */
export const fetchOver = (
  dispatcher: Dispatcher,
  /** A connection carries a request of the call: its first, or one that is tried again. */
  onStart: () => void = () => {},
): { fetch: typeof globalThis.fetch; dispatched: Promise<'dispatched'> } => {
  let start = (): void => {};
  const dispatched = new Promise<'dispatched'>((resolve) => {
    start = () => {
      onStart();
      resolve('dispatched');
    };
  });
  const watched = dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options, new DispatchWatch(handler, start)),
  );
  // undici's own types and Node's global ones describe the same objects.
  const fetch = ((input: string, init: object) => undiciFetch(input, { ...init, dispatcher: watched })) as unknown;
  return { fetch: fetch as typeof globalThis.fetch, dispatched };
};

// `instanceof` alone misses errors that Node itself makes when this code runs in another context than Node's own.
const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value);

/** Every error in the chain of causes, outermost first. */
const causesOf = (error: unknown): Error[] => {
  const found: Error[] = [];
  for (let at = error; isError(at) && !found.includes(at); at = at.cause) found.push(at);
  return found;
};

const timeoutCodes = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

/** Whether an error of the connection is a time limit that ran out. */
export const isTimeout = (error: unknown): boolean =>
  causesOf(error).some(
    (cause) => cause.name === 'TimeoutError' || timeoutCodes.has(String((cause as { code?: unknown }).code)),
  );

/** The causes' messages, each once: "fetch failed: connect ECONNREFUSED 127.0.0.1:1"; of a URL no user name and no password. */
export const describeError = (error: unknown): string => {
  const messages = causesOf(error).flatMap((cause) => {
    const code = (cause as { code?: unknown }).code;
    return cause.message !== '' ? [cause.message] : typeof code === 'string' ? [code] : [];
  });
  const told = messages.filter(
    (message, index) => !messages.slice(0, index).some((before) => before.includes(message)),
  );
  return withoutCredentials(told.length > 0 ? told.join(': ') : String(error));
};

/** What a refusal by status means: who must act, and whether another try can help. */
export const meaningOfStatus = (status: number): { code: ErrorCode; retryable: boolean } => {
  if (status === 401 || status === 403) return { code: 'ESEC', retryable: false };
  if (status === 429) return { code: 'EWINDOW_AGENT', retryable: true };
  if (status === 408 || status === 504) return { code: 'ETIMEOUT', retryable: true };
  return status >= 500 ? { code: 'EAGENTDOWN', retryable: true } : { code: 'EPROTO', retryable: false };
};
