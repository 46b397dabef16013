import type { Json } from '../../contracts/frames.js';
import type { ApprovalRule } from '../../contracts/team.js';
import { canonicalJson } from '../canonical-json.js';
import { isObject, type JsonObject } from '../model-json.js';
import { matchesGlob } from './glob.js';

/** `ask`: a person, before it is carried out. */
export type ApprovalDecision = 'ask' | 'run';

/** What stands at a path such as `to.0.address`; undefined: nothing does. */
const argumentAt = (given: unknown, path: string): unknown => {
  let value = given;
  for (const part of path.split('.')) {
    if (Array.isArray(value)) value = /^\d{1,6}$/.test(part) ? (value as unknown[])[Number(part)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  }
  return value;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : canonicalJson(value as Json));

/** What patterns are held against: a list by its words together, as in a command, and by each of them. */
const textsOf = (value: unknown): string[] => {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [textOf(value)];
  const words = value.map(textOf);
  return [words.join(' '), ...words];
};

const applies = ({ tool, when }: ApprovalRule, name: string, given: JsonObject): boolean => {
  if (!matchesGlob(tool, name)) return false;
  if (typeof when === 'string') return true;
  const patterns = typeof when.matches === 'string' ? [when.matches] : when.matches;
  const texts = textsOf(argumentAt(given, when.argument));
  return patterns.some((pattern) => texts.some((text) => matchesGlob(pattern, text)));
};

/**
 * Whether a call is put before a person first: the first rule that applies decides, and without one it is carried out. Patterns are
 * globs over the whole of an argument, however long. Regular expressions of strangers would have to be limited to a text's
 * beginning (see `compilePattern`), and what stands behind that would pass unseen.
 */
export const approvalOf = (rules: readonly ApprovalRule[], name: string, given: JsonObject): ApprovalDecision => {
  const rule = rules.find((one) => applies(one, name, given));
  return rule === undefined || rule.when === 'never' ? 'run' : 'ask';
};
