import { once } from 'node:events';
import type { Request, Response } from 'express';
import type { BytesReply } from './route.js';

/**
 * Answers with a file, a piece at a time as the client has room. What fails before the first piece is thrown and becomes a problem
 * document; later the connection is cut, so that the length that was announced is never reached.
 */
export const sendBytes = async (
  request: Request,
  response: Response,
  { content, sizeBytes, name, etag }: BytesReply,
  signal: AbortSignal,
): Promise<void> => {
  // A problem document must not carry the file's headers, so they wait until there is a first piece.
  const headers = {
    ETag: `"${etag}"`,
    // It is asked about again each time, as keys may go.
    'Cache-Control': 'private, no-cache',
    // Agents wrote it: no browser may take it for a page of this gateway.
    'Content-Security-Policy': 'sandbox',
  };
  const pieces = content[Symbol.asyncIterator]();
  try {
    let next = await pieces.next();
    if (signal.aborted) return;
    response.status(200).set(headers);
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    response.type('application/octet-stream').attachment(name).set('Content-Length', String(sizeBytes));
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    for (; next.done !== true && !signal.aborted; next = await pieces.next()) {
      if (!response.write(next.value)) await once(response, 'drain', { signal });
    }
    if (!signal.aborted) response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await pieces.return?.();
  }
};
