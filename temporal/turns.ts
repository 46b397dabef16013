/** Lets at most `atOnce` pieces of work of one key run together; the others wait their turn, in order. */
export const createTurns = (atOnce: number): (<T>(key: string, work: () => Promise<T>) => Promise<T>) => {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>();
  return async (key, work) => {
    const line = lines.get(key) ?? { running: 0, waiting: [] };
    lines.set(key, line);
    // A turn is handed on, not given back, so that nobody overtakes those who wait.
    if (line.running < atOnce) line.running += 1;
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = line.waiting.shift();
      if (next) next();
      else line.running -= 1;
      if (line.running === 0) lines.delete(key);
    }
  };
};
