import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';

/** Programs that one process starts at the same time. */
const startsAtOnce = availableParallelism();

let starting = 0;
const waiting: (() => void)[] = [];

/**
 * Starts a program when it is its turn. To start one holds the whole process up for some milliseconds: hundreds in a row would
 * leave it no breath for anything else, answers of people among it.
 */
export const inTurn = async <T>(start: () => Promise<T>): Promise<T> => {
  if (starting < startsAtOnce) starting += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await start();
  } finally {
    await setImmediate();
    const next = waiting.shift();
    if (next) next();
    else starting -= 1;
  }
};
