import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';

declare module 'http' {
  interface IncomingMessage {
    /** Id of the request: in the log, in problem documents and in X-Request-Id. */
    requestId?: string;
  }
}

/** Takes the caller's X-Request-Id where it is harmless to log, else makes one. */
export const requestId = (): RequestHandler => (request, response, next) => {
  const given = request.get('x-request-id');
  request.requestId = given !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
  response.set('X-Request-Id', request.requestId);
  next();
};
