/**
 * Asks for one key once at a time: who comes while an answer is under way is given the next one, with all others who came
 * meanwhile. So everybody's answer was asked for after they came, however many they are.
 */
export const createNextAnswers = <T>(): ((key: string, ask: () => Promise<T>) => Promise<T>) => {
  interface Line {
    now: Promise<T>;
    next: Promise<T> | null;
  }
  const lines = new Map<string, Line>();
  const begin = (key: string, ask: () => Promise<T>): Promise<T> => {
    const line: Line = { now: ask(), next: null };
    lines.set(key, line);
    const leave = (): void => {
      if (line.next === null) lines.delete(key);
    };
    line.now.then(leave, leave);
    return line.now;
  };
  return (key, ask) => {
    const line = lines.get(key);
    if (!line) return begin(key, ask);
    const goOn = (): Promise<T> => begin(key, ask);
    line.next ??= line.now.then(goOn, goOn);
    return line.next;
  };
};
