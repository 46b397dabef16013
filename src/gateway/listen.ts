import { setMaxListeners } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Config } from '../config.js';
import { createApp } from './app.js';
import type { Ports } from './route.js';

export interface Gateway {
  /** Where it listens, such as http://127.0.0.1:3000. */
  url: string;
  /** Drains: no new starts, event streams are told to reconnect, at most 30 s. May be called twice. */
  close(): Promise<void>;
}

/** Most milliseconds that a drain takes (spec 09 "Shutdown drains"). */
const drainMs = 30_000;

/**
 * Milliseconds that an idle connection is kept: longer than proxies and clients keep theirs (60 s as a rule), as a request that
 * meets a closing connection is lost.
 */
const keepAliveMs = 65_000;

const listenError = (error: NodeJS.ErrnoException, { host, port }: Config): Error => {
  const why: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken. Set PORT to a free one (PORT=0 takes any).`,
    EACCES: `Port ${port} on ${host} needs rights that this process lacks. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `HOST ${host} is no address of this machine. Set HOST to one, such as 127.0.0.1.`,
    ENOTFOUND: `HOST ${host} cannot be resolved. Set HOST to an address of this machine, such as 127.0.0.1.`,
  };
  return new Error(why[error.code ?? ''] ?? `Cannot listen on ${host}:${port}: ${error.message}`, { cause: error });
};

const urlOf = ({ host }: Config, { port }: AddressInfo): string => {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`;
};

/** Serves ports over HTTP. @throws Error naming the port and PORT when it is taken */
export const listen = async (ports: Ports, logger: Logger): Promise<Gateway> => {
  const { config } = ports;
  const draining = new AbortController();
  // Each event stream listens to it; Node takes more than ten listeners for a leak, and says so.
  setMaxListeners(0, draining.signal);
  const server = createServer(createApp({ ports, logger, draining: draining.signal }));
  server.keepAliveTimeout = keepAliveMs;
  // A connection that falls idle during the drain would otherwise be kept for its keep-alive time.
  server.on('request', (_request, response) => {
    response.once('close', () => {
      if (draining.signal.aborted) setImmediate(() => server.closeIdleConnections());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, config)));
    server.listen(config.port, config.host.replace(/^\[|\]$/g, ''), () => resolve());
  });

  const drain = async (): Promise<void> => {
    draining.abort();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
  };
  let closing: Promise<void> | null = null;
  return {
    url: urlOf(config, server.address() as AddressInfo),
    close: () => (closing ??= drain()),
  };
};
