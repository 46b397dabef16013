import { bytesOf } from '../../../activities/artifacts/read.js';

export const text = (words: string): Buffer => Buffer.from(words);

export const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

export const whole = async (opened: Parameters<typeof bytesOf>[0] | null): Promise<Buffer> => {
  if (opened === null) throw new Error('there is no such artifact');
  return await bytesOf(opened);
};

/** Bytes that differ from place to place, so that a mix-up of chunks shows. */
export const many = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) % 2 ** 32, at);
  return bytes;
};
