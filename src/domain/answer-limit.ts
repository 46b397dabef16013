import type { Json } from '../contracts/frames.js';

/**
 * Bytes of the documents that hold a whole session, below the 2 MiB that Temporal takes in one. Beside the prompt an answer
 * stands there up to four times: as a lane's text and final, as provisional and as result.
 */
const documentBytes = 1_900_000;
const copies = 4;

/** UTF-8 bytes of a value as JSON. */
export const jsonBytes = (value: Json): number => {
  const text = JSON.stringify(value);
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Each half of a surrogate pair stands for two of its four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
};

/** The same of a piece of text, which shares its quotes with what stands around it. */
export const textBytes = (text: string): number => jsonBytes(text) - 2;

/** Prompts are long and asked about at every word of an answer. */
let last = { prompt: '', limit: Math.floor(documentBytes / copies) };

/** Bytes that all answers of a session may take together. */
export const answerLimit = (prompt: string): number => {
  if (last.prompt !== prompt) last = { prompt, limit: Math.floor((documentBytes - textBytes(prompt)) / copies) };
  return last.limit;
};

/** Why an answer is refused that brings all answers of its session to `bytes`, or null (spec 08: a result beyond the limit). */
export const answerFault = (prompt: string, bytes: number): string | null => {
  const limit = answerLimit(prompt);
  if (bytes <= limit) return null;
  return `the answer is too long: the answers of this session may take ${limit} bytes together, and with it they take ${bytes}`;
};
