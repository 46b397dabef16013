import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { ParleyError } from '../src/domain/errors.js';

export interface MetricsServer {
  url: string;
  close(): Promise<void>;
}

/**
 * Serves GET /metrics for a worker that has no gateway in its process.
 * @throws ParleyError when the port cannot be had, naming PARLEY_METRICS_PORT
 */
export const serveMetrics = async (registry: Registry, host: string, port: number): Promise<MetricsServer> => {
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end('Only /metrics is here.\n');
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  try {
    server.listen(port, host.replace(/^\[|\]$/g, ''));
    await once(server, 'listening');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ParleyError('unavailable', `Metrics cannot be served: ${why}. Set PARLEY_METRICS_PORT to a free port.`);
  }
  const { address, family, port: given } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${given}/metrics`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
