import type { Json } from '../contracts/frames.js';
import type { AgreementPolicy } from '../contracts/session.js';
import { equal } from './numbers.js';
import { canonicalJson } from './canonical-json.js';
import { compilePattern, maxPatternChars, type Pattern } from './pattern.js';
import { answerText, normalise, structureIn } from './text.js';

/** How a choice is read from an answer: pointer, then regex, then schema, each on what the one before found. */
export type ChoicePolicy = NonNullable<AgreementPolicy['choice']>;
type ChoiceSchema = NonNullable<ChoicePolicy['schema']>;
export type Choice = string | number | boolean;

/** The value at a JSON pointer (RFC 6901); undefined: there is none. */
const at = (value: Json, pointer: string): Json | undefined => {
  let found: Json | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (found === undefined || found === null || typeof found !== 'object') return undefined;
    if (Array.isArray(found)) found = /^(0|[1-9]\d*)$/.test(name) ? found[Number(name)] : undefined;
    else found = Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
};

/** The pattern that was asked for last: all answers of a session are read by one. */
let compiled: { source: string; pattern: Pattern } | null = null;
const captured = (text: string, source: string): string | undefined => {
  if (compiled?.source !== source) compiled = { source, pattern: compilePattern(source) };
  return compiled.pattern.find(text);
};

// A number that is not part of a word, with or without thousands separators.
const numberPattern =
  /(?<![\p{L}\p{N}_.])-?(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)/giu;
const numbersIn = (text: string): number[] =>
  Array.from(text.slice(0, maxPatternChars).matchAll(numberPattern), ([found]) => Number(found.replaceAll(',', '')));

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** Where `word` stands in `text` as a whole word, both lower-case; -1: nowhere. */
const wordAt = (text: string, word: string): number => {
  if (word === '') return -1;
  for (let start = text.indexOf(word); start !== -1; start = text.indexOf(word, start + 1)) {
    const end = start + word.length;
    const opens = !(isWordCharacter(word[0]) && isWordCharacter(text[start - 1]));
    const closes = !(isWordCharacter(word.at(-1)) && isWordCharacter(text[end]));
    if (opens && closes) return start;
  }
  return -1;
};

const isSame = (value: Json, option: Choice): boolean =>
  typeof option === 'number'
    ? typeof value === 'number' && equal(value, option)
    : typeof option === 'string'
      ? typeof value === 'string' && normalise(value) === normalise(option)
      : value === option;

/** The option that the answer is, or else the one it names first; of two that begin at the same place the longer. */
const optionIn = (value: Json, options: readonly Choice[]): Choice | undefined => {
  const whole = options.find((option) => isSame(value, option));
  if (whole !== undefined) return whole;
  const text = answerText(value).toLowerCase();
  const first = numbersIn(text).find((found) => options.some((option) => isSame(found, option)));
  const named = options
    .filter((option) => typeof option !== 'number')
    .map((option) => ({ option, length: String(option).length, start: wordAt(text, String(option).toLowerCase()) }))
    .filter(({ start }) => start !== -1)
    .sort((a, b) => a.start - b.start || b.length - a.length)[0];
  if (named) return named.option;
  return first === undefined ? undefined : options.find((option) => isSame(first, option));
};

const booleanIn = (value: Json): boolean | undefined => {
  if (typeof value === 'boolean') return value;
  const text = answerText(value).toLowerCase();
  const yes = wordAt(text, 'true');
  const no = wordAt(text, 'false');
  if (yes === -1 && no === -1) return undefined;
  return no === -1 || (yes !== -1 && yes < no);
};

const schemaChoice = (value: Json, schema: ChoiceSchema): Choice | undefined => {
  if (schema.enum) return optionIn(value, schema.enum);
  if (schema.type === 'boolean') return booleanIn(value);
  const { minimum = -Infinity, maximum = Infinity } = schema;
  const isNumeric = schema.type === 'number' || schema.type === 'integer';
  if (!isNumeric && (schema.type === 'string' || (minimum === -Infinity && maximum === Infinity))) return plain(value);
  const fits = (found: number): boolean =>
    found >= minimum && found <= maximum && (schema.type !== 'integer' || Number.isInteger(found));
  return (typeof value === 'number' ? [value] : numbersIn(answerText(value))).find(fits);
};

/** Without a schema: a number is one also when it stands as text; beyond 15 digits it is an identifier, not a number. */
const plain = (value: Json): Choice | undefined => {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = normalise(typeof value === 'string' ? value : canonicalJson(value));
  return text === '' || value === null ? undefined : text;
};
const numeric = (choice: Choice): Choice =>
  typeof choice === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(choice) ? Number(choice) : choice;

/**
 * What an answer chooses (spec 01 "choice"), or null where it makes no choice: it then agrees with nobody. Texts come back
 * normalised, options of an enum as the policy writes them.
 * @throws ParleyError invalid_request, for a regex that is none.
 */
export const choiceOf = (answer: Json, policy: ChoicePolicy): Choice | null => {
  let value: Json | undefined = answer;
  if (policy.pointer !== undefined) {
    value = typeof answer === 'string' && policy.pointer !== '' ? structureIn(answer) : answer;
    if (value !== undefined) value = at(value, policy.pointer);
  }
  if (value !== undefined && policy.regex !== undefined) value = captured(answerText(value), policy.regex);
  if (value === undefined) return null;
  if (policy.schema) return schemaChoice(value, policy.schema) ?? null;
  const choice = plain(value);
  return choice === undefined ? null : numeric(choice);
};

/** Numbers agree within 1e-9, everything else when it is the same. */
export const sameChoice = (a: Choice, b: Choice): boolean =>
  typeof a === 'number' && typeof b === 'number' ? equal(a, b) : a === b;
