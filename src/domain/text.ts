import type { Json } from '../contracts/frames.js';
import { canonicalJson } from './canonical-json.js';

const trailing = new Set(Array.from('.,;:!?…。、！？'));

/**
 * What two answers are compared by: trimmed, lower-case, one space between words, no punctuation at the end. A text of
 * punctuation only stays as it is. By code points, not by locale, so that every machine and every replay agrees.
 */
export const normalise = (text: string): string => {
  // The pattern leaves single spaces alone: replacing each of them by itself takes twenty times as long.
  const plain = text
    .normalize('NFC')
    .trim()
    .toLowerCase()
    .replace(/\s{2,}|[^\S ]/g, ' ');
  // A loop, as `/[…]+$/` would take quadratic time on long runs of punctuation.
  let end = plain.length;
  while (end > 0 && (trailing.has(plain[end - 1]!) || plain[end - 1] === ' ')) end -= 1;
  return end === 0 ? plain : plain.slice(0, end);
};

/** Words of the normalised text; order and repetition are gone. */
export const tokenSet = (text: string): ReadonlySet<string> => {
  const plain = normalise(text);
  return new Set(plain === '' ? [] : plain.split(' '));
};

/** Size of the intersection over size of the union, 0–1; two empty sets are the same, so 1. 1 - jaccard is a metric. */
export const jaccard = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  let shared = 0;
  for (const token of a) if (b.has(token)) shared += 1;
  return jaccardOf(shared, a.size, b.size);
};

/** The same from the sizes: how many are shared, and how many each has. */
export const jaccardOf = (shared: number, a: number, b: number): number =>
  a + b === 0 ? 1 : shared / (a + b - shared);

/** An answer as text: a string as it is, anything else as canonical JSON. */
export const answerText = (answer: Json): string => (typeof answer === 'string' ? answer : canonicalJson(answer));

/** An empty answer is none (spec 01): null or nothing but white space. `false`, 0, [] and {} are answers. */
export const isEmptyAnswer = (answer: Json | undefined): boolean =>
  answer === undefined || answer === null || (typeof answer === 'string' && answer.trim() === '');

const unfenced = (text: string): string => {
  const trimmed = text.trim();
  const firstBreak = trimmed.indexOf('\n');
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || firstBreak === -1) return trimmed;
  return trimmed.slice(firstBreak + 1, -3);
};

/** The object or list that a text is, with or without a Markdown fence around it; undefined: it is neither. */
export const structureIn = (text: string): Exclude<Json, string | number | boolean | null> | undefined => {
  const plain = unfenced(text).trim();
  if (!plain.startsWith('{') && !plain.startsWith('[')) return undefined;
  try {
    return JSON.parse(plain) as Exclude<Json, string | number | boolean | null>;
  } catch {
    return undefined; // Text of a model that is not JSON is no error: it is text.
  }
};
