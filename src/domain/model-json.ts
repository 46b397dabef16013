import type { Json } from '../contracts/frames.js';
import { answerText } from './text.js';

/** An object as a model wrote it; its members are anything. */
export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Turns nearly-JSON (single quotes, trailing commas, comments) into a value; undefined where it cannot. */
export type Mend = (text: string) => unknown;

/** More than this of an answer is not looked at. */
const maxCharacters = 2_000_000;
const maxStarts = 20;

/** The end of the object that begins at `start`, or -1: its braces do not close. */
export const objectEnd = (text: string, start: number): number => {
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isString) {
      if (character === '\\') at += 1;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
};

/** Texts between matching braces, outermost first; prose with a stray brace hides none that begins like an object. */
const spansIn = (text: string): string[] => {
  const spans: string[] = [];
  let from = 0;
  for (let tries = 0; tries < maxStarts; tries += 1) {
    const start = text.indexOf('{', from);
    if (start < 0) break;
    const end = objectEnd(text, start);
    if (end > 0) spans.push(text.slice(start, end));
    from = end > 0 ? end : start + 1;
  }
  return spans;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // Text of a model that is not JSON is no error: it is text.
  }
};

/**
 * Every JSON object in an answer, in the order in which they stand there: the answer itself, or what stands in a fence or
 * between words (details 2.6). Nearly-JSON is mended only where its braces close: of an answer that was cut off nobody
 * knows how it would have ended.
 */
export const objectsIn = (answer: Json, mend: Mend): JsonObject[] => {
  if (isObject(answer)) return [answer];
  const text = answerText(answer).slice(0, maxCharacters);
  const whole = parsed(text.trim());
  if (isObject(whole)) return [whole];
  const spans = spansIn(text);
  const exact = spans.map(parsed).filter(isObject);
  return exact.length > 0 ? exact : spans.map(mend).filter(isObject);
};
