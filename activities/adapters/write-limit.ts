import type { Socket } from 'node:net';

/**
 * Ends a connection through which nothing of what was written has gone for so long: whoever is there has stopped reading, and an
 * answer would be waited for in vain. A connection that only waits, or is kept open, is left alone.
 */
export const limitWrites = (socket: Socket, longestMs: number): void => {
  // Node begins to count anew with each byte that comes or goes, which it looks for once in so long: at most twice as long goes by.
  socket.setTimeout(longestMs, () => {
    if (socket.writableLength === 0) return;
    const error = new Error(`write timeout: nothing went out for ${longestMs} ms`);
    socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  });
};
