/** Calls of one key come one after another: a retry may arrive while the attempt before it is still being stopped. */
export const createTurns = () => {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(key: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    const before = last.get(key);
    const turn = (async () => {
      await Promise.allSettled([before]);
      signal.throwIfAborted();
      return await call();
    })();
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
};
