import { RE2JS } from 're2js';
import type { OpenExport, RedactionRule } from '../../contracts/export.js';
import type { Json } from '../../contracts/frames.js';
import { valueAt, withChanges } from './changes.js';
import {
  mapBelow,
  mapNamed,
  replacing,
  type Texts,
  textsNamed,
  textsOf,
  valuesOf,
  withTexts,
  withValues,
} from './texts.js';
import { ParleyError } from '../errors.js';

/** Where a rule may point: the histories refer to these places. */
const places = /^\/(request|setup|outcome|story\/\d+\/values)(\/|$)/;

const programOf = (pattern: string, index: number): RE2JS => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    const why = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
    throw new ParleyError(
      'invalid_request',
      `[${index}].pattern: must be a regular expression without lookaround and backreferences (RE2); ${why}`,
    );
  }
};

/** One rule's document. `hit` hears of each text that it changed. */
const applied = (document: OpenExport, rule: RedactionRule, index: number, hit: () => void): OpenExport => {
  const { pointer, key, pattern, replace } = rule;
  if (pattern !== undefined) {
    const program = programOf(pattern, index);
    return withTexts(document, (text) => {
      const after = program.matcher(text).replaceAll(RE2JS.quoteReplacement(replace));
      if (after !== text) hit();
      return after;
    });
  }
  const hide: Texts = (text) => {
    if (text === '' || text === replace) return text;
    hit();
    return replace;
  };
  if (key !== undefined) {
    const isMeant = (name: string): boolean => name.toLowerCase() === key.toLowerCase();
    const found = valuesOf(document).flatMap((value) => textsNamed(value, isMeant));
    const hidden = withValues(document, (value) => mapNamed(value, isMeant, hide));
    return withTexts(hidden, replacing(found, replace, hit));
  }
  if (pointer === undefined || !places.test(pointer))
    throw new ParleyError(
      'invalid_request',
      `[${index}].pointer: must begin with /request, /setup, /outcome or /story/NUMBER/values; got "${pointer}"`,
    );
  const there = valueAt(document, pointer);
  if (there === undefined) return document;
  const change = { at: pointer, to: mapBelow(there as Json, hide) };
  const hidden = withChanges(document as unknown as Json, [change]) as unknown as OpenExport;
  return withTexts(hidden, replacing(textsOf(there as Json), replace, hit));
};

const ruleText = ({ pointer, key, pattern }: RedactionRule): string =>
  pointer !== undefined ? `pointer ${pointer}` : key !== undefined ? `key ${key}` : `pattern ${pattern}`;

/**
 * A document with the rules applied in their order, each at every place where its texts stand: in the request, the setup, the
 * story, the checkpoints, the outcome and the histories alike. A text of a `pointer` or `key` that has less than 6 characters
 * is changed at its place alone. Numbers, true, false and null stay: work decides by them.
 * @throws ParleyError invalid_request, naming the rule
 */
export const redacted = (document: OpenExport, rules: readonly RedactionRule[]): OpenExport =>
  rules.reduce((before, rule, index) => {
    let count = 0;
    const after = applied(before, rule, index, () => {
      count += 1;
    });
    return { ...after, redactions: [...after.redactions, { rule: ruleText(rule), count }] };
  }, document);
