import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** One server-sent event. `id` only where a client may resume after it. */
export interface SseMessage {
  event?: string;
  id?: number;
  data?: unknown;
  /** One line that is sent as it is, where another protocol's streams hold more than JSON. */
  line?: string;
  comment?: string;
  /** Milliseconds a client waits before it connects again. */
  retry?: number;
}

/** The last that a stream tells while its work goes on. */
export const gatewayStops: SseMessage = { comment: 'this gateway stops; connect again' };

/** The wire form (WHATWG HTML, "Server-sent events"); JSON has no line breaks, so one data line is enough. */
export const sseText = ({ event, id, data, line, comment, retry }: SseMessage): string => {
  const lines: string[] = [];
  if (comment !== undefined) lines.push(`: ${comment}`);
  if (retry !== undefined) lines.push(`retry: ${retry}`);
  if (id !== undefined) lines.push(`id: ${id}`);
  if (event !== undefined) lines.push(`event: ${event}`);
  if (data !== undefined) lines.push(`data: ${JSON.stringify(data)}`);
  if (line !== undefined) lines.push(`data: ${line}`);
  return `${lines.join('\n')}\n\n`;
};

/**
 * Writes messages to a response until they end or the client goes away (`signal`). The next message is asked for only when
 * the client has room, so a slow client holds back its own messages and nobody's memory. A comment every `heartbeatMs`
 * keeps proxies from closing a quiet stream.
 */
export const sendEvents = async (
  response: ServerResponse,
  messages: AsyncIterable<SseMessage>,
  { heartbeatMs, signal }: { heartbeatMs: number; signal: AbortSignal },
): Promise<void> => {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    // Proxies such as nginx would otherwise hold the events back.
    'X-Accel-Buffering': 'no',
  });
  response.flushHeaders();
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(sseText({ comment: 'beat' }));
  }, heartbeatMs);
  try {
    for await (const message of messages) {
      if (signal.aborted) break;
      if (!response.write(sseText(message))) await once(response, 'drain', { signal });
    }
    if (!signal.aborted) response.end();
  } catch (error) {
    // `once` rejects when the client goes away while it has no room: that is an end like any other.
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(heartbeat);
  }
};
