import type { Json } from '../../src/contracts/frames.js';

/** Most characters of an answer, as the JSON that the model is given (spec 05 leaves the number open). */
export const maxAnswerChars = 200_000;

/** Of the word about what is cut, at most. */
const wordChars = 100;
/** What stands around a text. */
const restChars = 1_000;
const number = new Intl.NumberFormat('en-US');

/** Stands where some of a text's characters do not. */
export const leftOut = (left: number, total: number): string =>
  `\n[... ${number.format(left)} of ${number.format(total)} characters are left out here ...]\n`;

/** The beginning and the end of a text, with a word between them on how much is left out; `chars`: at most about so many stay. */
export const headAndTail = (text: string, chars: number): string => {
  if (text.length <= chars) return text;
  const half = Math.max(0, Math.floor((chars - wordChars) / 2));
  const head = whole(text.slice(0, half));
  const tail = whole(text.slice(text.length - half));
  return head + leftOut(text.length - head.length - tail.length, text.length) + tail;
};

/** Without half of a character at either end. */
const whole = (text: string): string => text.replace(/^[\udc00-\udfff]/, '').replace(/[\ud800-\udbff]$/, '');

const sizeOf = (value: Json): number => JSON.stringify(value).length;

/** Strings longer than `chars`, wherever they stand, cut to it. */
const withShort = (value: Json, chars: number): Json => {
  if (typeof value === 'string') return headAndTail(value, chars);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => withShort(one, chars));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withShort(one, chars)]));
};

/**
 * An answer that a model's context can hold. The longest texts are cut, in their middle, as far as it takes; an answer that is
 * long for another reason becomes a text that is cut.
 */
export const fitted = (answer: Json): Json => {
  if (sizeOf(answer) <= maxAnswerChars) return answer;
  const least = withShort(answer, restChars);
  if (sizeOf(least) > maxAnswerChars) return asText(answer);
  for (let chars = maxAnswerChars - restChars; chars > restChars; chars = Math.floor(chars / 2)) {
    const shorter = withShort(answer, chars);
    if (sizeOf(shorter) <= maxAnswerChars) return shorter;
  }
  return least;
};

/** What is in it is escaped twice, so that nobody knows its length beforehand. */
const asText = (answer: Json): Json => {
  const isObject = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
  const status = (isObject ? answer['status'] : undefined) ?? 'ok';
  const text = JSON.stringify(answer);
  for (let chars = maxAnswerChars - restChars; ; chars = Math.floor(chars / 2)) {
    const cut = { status, cut: 'too long: the answer as text', text: headAndTail(text, chars) };
    if (sizeOf(cut) <= maxAnswerChars) return cut;
  }
};
