import type { ParameterExpansionPart, Word } from 'unbash';
import { emptyText, isKnown, mapText, slice, unknown, type Text } from './text.js';

const special = /[*?[\\]/;
const asInteger = (text: Text | undefined): number | undefined =>
  text && /^\s{0,8}-?\d{1,9}\s{0,8}$/.test(text.text) ? Number(text.text) : undefined;

const removed = (value: Text, operator: string, pattern: Text): Text | undefined => {
  const { text } = value;
  const front = operator.startsWith('#');
  if (isKnown(pattern) && !special.test(pattern.text)) {
    if (front) return text.startsWith(pattern.text) ? slice(value, pattern.text.length) : value;
    return text.endsWith(pattern.text) ? slice(value, 0, text.length - pattern.text.length) : value;
  }
  // The folder and the last name of a path; other patterns stay unknown.
  if (front && pattern.text === '*/') {
    return slice(value, (operator === '##' ? text.lastIndexOf('/') : text.indexOf('/')) + 1);
  }
  if (!front && pattern.text === '/*') {
    const at = operator === '%%' ? text.indexOf('/') : text.lastIndexOf('/');
    return at === -1 ? value : slice(value, 0, at);
  }
  return undefined;
};

const replaced = (value: Text, operator: string, pattern: Text, replacement: Text): Text | undefined => {
  if (!isKnown(pattern) || !isKnown(replacement) || special.test(pattern.text) || pattern.text === '') return undefined;
  const [from, to] = [pattern.text, replacement.text];
  if (operator === '//') return mapText(value, (text) => text.split(from).join(to));
  if (operator === '/') return mapText(value, (text) => text.replace(from, () => to));
  if (operator === '/#') return mapText(value, (text) => (text.startsWith(from) ? to + text.slice(from.length) : text));
  return mapText(value, (text) => (text.endsWith(from) ? text.slice(0, text.length - from.length) + to : text));
};

const sliced = (
  value: Text,
  offset: number | undefined,
  length: number | undefined,
  hasLength: boolean,
): Text | undefined => {
  if (offset === undefined || (hasLength && length === undefined)) return undefined;
  const size = value.text.length;
  const start = Math.max(0, offset < 0 ? size + offset : offset);
  const end = length === undefined ? size : length < 0 ? size + length : start + length;
  return slice(value, start, Math.max(start, end));
};

const changedCase = (value: Text, operator: string): Text => {
  const change = (part: string): string => (operator.startsWith('^') ? part.toUpperCase() : part.toLowerCase());
  return mapText(value, (text) => (operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1)));
};

/**
 * What an operation such as `${x#…}`, `${x/…/…}` or `${x:0:1}` makes of one value; the defaults (`:-` and so on) are not among them.
 * Whatever cannot be followed is unknown and keeps its origins.
 */
export const operated = (value: Text, part: ParameterExpansionPart, single: (word: Word) => Text): Text => {
  const { operation } = part;
  if (!operation || value.text === '') return value;
  const result = ((): Text | undefined => {
    switch (operation.type) {
      case 'Remove':
        return removed(value, operation.operator, single(operation.operand));
      case 'Replace':
        return replaced(value, operation.operator, single(operation.pattern), single(operation.replacement));
      case 'Slice':
        return sliced(
          value,
          asInteger(single(operation.offset)),
          operation.length && asInteger(single(operation.length)),
          operation.length !== undefined,
        );
      case 'CaseModification':
        return changedCase(value, operation.operator);
      case 'Transform':
        return value;
      case 'Names':
        return emptyText;
      default:
        return undefined;
    }
  })();
  return (
    result ?? {
      ...unknown(
        'output',
        value.holes.flatMap((hole) => hole.producers),
      ),
      variables: value.variables,
    }
  );
};
