import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a call asks of the provider, as JSON in its prompt. */
export interface AskedOfProvider {
  tenant: string;
  /** What it is answered to have used. */
  tokens: number;
  /** How long the answer takes. */
  ms: number;
}

/** A call as the provider sees it; `endedAt` Infinity: it is under way. */
export interface Arrival extends AskedOfProvider {
  at: number;
  endedAt: number;
  model: string;
}

/** What the provider says in place of an answer. */
export interface Refusal {
  status: number;
  headers?: Record<string, string>;
}

export interface LimitedProvider {
  /** For `base_url`. */
  url: string;
  arrivals: Arrival[];
  /** Whether a call is refused, and with what; null: it is answered. */
  refuse: (arrival: Arrival) => Refusal | null;
  /** Until when nobody is answered. */
  held: Promise<void>;
  close(): Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<{ model: string; messages: { content: string }[] }> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return JSON.parse(Buffer.concat(pieces).toString()) as { model: string; messages: { content: string }[] };
};

const chunk = (model: string, more: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, ...more })}\n\n`;

/** A real HTTP server that speaks as OpenAI does and notes when each call came, what it used, and when it ended. */
export const startLimitedProvider = async (): Promise<LimitedProvider> => {
  const arrivals: Arrival[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    const { model, messages } = await bodyOf(request);
    const asked = JSON.parse(messages.at(-1)?.content ?? '{}') as AskedOfProvider;
    const arrival: Arrival = { ...asked, at, endedAt: Infinity, model };
    arrivals.push(arrival);
    const ended = (): void => {
      arrival.endedAt = Math.min(arrival.endedAt, performance.now());
    };
    response.once('close', ended);
    const refusal = provider.refuse(arrival);
    if (refusal) {
      arrival.tokens = 0;
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers });
      response.end(JSON.stringify({ error: { message: 'too much', type: 'limited' } }));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, asked.ms).unref());
    await provider.held;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk(model, { choices: [{ index: 0, delta: { role: 'assistant', content: 'yes' } }] }));
    response.write(chunk(model, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
    const usage = { prompt_tokens: asked.tokens - 1, completion_tokens: 1, total_tokens: asked.tokens };
    response.write(chunk(model, { choices: [], usage }));
    ended();
    response.end('data: [DONE]\n\n');
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider: LimitedProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    arrivals,
    refuse: () => null,
    held: Promise.resolve(),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return provider;
};
