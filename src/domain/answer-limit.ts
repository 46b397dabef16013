import type { Json } from '../contracts/frames.js';

/**
 * Bytes of the documents that hold a whole session, below the 2 MiB that Temporal takes in one. Beside the prompt an answer
 * stands there up to four times: as a lane's text and final, as provisional and as result.
 */
const documentBytes = 1_900_000;
const copies = 4;
/** Most bytes that JSON spends on one UTF-16 unit: a control character becomes six letters. */
const worstUnit = 6;

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

const surelyFits = (answers: readonly Json[], limit: number): boolean =>
  answers.every((answer) => typeof answer === 'string') &&
  answers.reduce((units, answer) => units + answer.length, 0) * worstUnit <= limit;

/**
 * Why the answers of one session are too long together, or null (spec 08: a result beyond the limit fails at once). Lanes
 * count with what they have said so far.
 */
export const answersFault = (prompt: string, answers: readonly Json[]): string | null => {
  const whole = (documentBytes - worstUnit * prompt.length) / copies;
  if (surelyFits(answers, whole)) return null;
  const limit = Math.floor((documentBytes - jsonBytes(prompt)) / copies);
  const bytes = answers.reduce<number>((sum, answer) => sum + jsonBytes(answer), 0);
  if (bytes <= limit) return null;
  return `the answer is too long: the answers of this session may take ${limit} bytes together, and with it they take ${bytes}`;
};
