import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { z } from 'zod';
import type { frameSchema } from '../../src/contracts/frames.js';

/** A frame as it may be written: with the contract's defaults left out. */
export type SaidFrame = z.input<typeof frameSchema>;

/** What the http adapter posts. */
export interface FrameAgentQuestion {
  session_id: string;
  lane_id: string;
  persona_id: string;
  instructions: string | null;
  prompt: string;
  diversity_seed: number;
}

export interface FrameAgentCall {
  question: FrameAgentQuestion;
  headers: IncomingHttpHeaders;
  path: string;
  /** The bare response, for answers that are no event stream. */
  response: ServerResponse;
  /** Sends frames as server-sent events; settles when the connection takes more. */
  send(...frames: SaidFrame[]): Promise<void>;
  /** Sends text as it stands, for what is not a frame. */
  sendRaw(text: string): Promise<void>;
  /** Breaks the connection in the middle of the answer. */
  cut(): void;
  /** Settles when the connection of this call is closed, whoever closed it. */
  closed: Promise<void>;
}

export interface FrameAgent {
  url: string;
  calls: FrameAgentCall[];
  /** Settles with the next call that comes in. */
  nextCall(): Promise<FrameAgentCall>;
  close(): Promise<void>;
}

/**
 * A real remote agent: an HTTP server on a free port that answers each POST by what `play` does. The answer ends when
 * `play` has ended, unless it ended the response itself.
 */
export const startFrameAgent = async (play: (call: FrameAgentCall) => void | Promise<void>): Promise<FrameAgent> => {
  const calls: FrameAgentCall[] = [];
  let waiting: ((call: FrameAgentCall) => void)[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const piece of request.setEncoding('utf8')) body += String(piece);
      const closed = once(response, 'close').then(() => undefined);
      const sendRaw = async (text: string): Promise<void> => {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (!response.write(text)) await Promise.race([once(response, 'drain'), closed]);
      };
      const call: FrameAgentCall = {
        question: JSON.parse(body || 'null') as FrameAgentQuestion,
        headers: request.headers,
        path: request.url ?? '',
        response,
        sendRaw,
        send: (...frames) => sendRaw(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')),
        cut: () => response.destroy(),
        closed,
      };
      calls.push(call);
      const told = waiting;
      waiting = [];
      for (const tell of told) tell(call);
      await play(call);
      if (!response.writableEnded && !response.destroyed) response.end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/agent`,
    calls,
    nextCall: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
