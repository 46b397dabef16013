import { createHash } from 'node:crypto';

/** A repeatable stream of numbers in [0, 1). */
export type Random = () => number;

/** The same parts give the same stream on every machine; different parts give unrelated ones. */
export const createRandom = (...parts: readonly (string | number)[]): Random => {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  let [a, b, c, counter] = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), 1];
  // sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, passes the usual batteries, a dozen operations.
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
};

/** A factor around 1 with mean 1, never negative: how model latencies scatter. `sigma` 0 is always 1. */
export const logNormal = (random: Random, sigma: number): number => {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.exp(sigma * normal - (sigma * sigma) / 2);
};

/** One of `choices`, which must not be empty. */
export const pick = <T>(random: Random, choices: readonly T[]): T => {
  const choice = choices[Math.floor(random() * choices.length)];
  if (choice === undefined) throw new RangeError('pick needs at least one choice');
  return choice;
};
