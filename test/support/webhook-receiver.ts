import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { WebhookEvent } from '../../src/contracts/webhook.js';

/** What a receiver was sent. */
export interface Received {
  path: string;
  method: string;
  headers: IncomingHttpHeaders;
  body: string;
  event: WebhookEvent;
}

/** A status with headers; `silence`: no answer at all; `gone`: the connection breaks. */
export type Answer = { status: number; headers?: Record<string, string> } | 'silence' | 'gone';

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** How the next ones are answered; the last is repeated. */
  answers: Answer[];
  /** Those that were sent for one piece of work. */
  about(workId: string): Received[];
  /** Waits until so many have come for one piece of work. */
  until(workId: string, count: number): Promise<Received[]>;
  close(): Promise<void>;
}

/** A real HTTP server that is told what to answer. */
export const startReceiver = async (): Promise<Receiver> => {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { url: path = '', method = '', headers } = request;
    received.push({ path, method, headers, body, event: JSON.parse(body) as WebhookEvent });
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 204 };
    if (answer === 'silence') return;
    if (answer === 'gone') return void response.destroy();
    response.writeHead(answer.status, answer.headers).end();
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const about = (workId: string): Received[] => received.filter(({ event }) => event.subject === workId);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    answers,
    about,
    until: async (workId, count) => {
      const deadline = Date.now() + 25_000;
      while (about(workId).length < count) {
        if (Date.now() > deadline)
          throw new Error(`${about(workId).length} of ${count} came: ${JSON.stringify(received)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return about(workId);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
