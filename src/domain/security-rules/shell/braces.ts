import type { Word } from 'unbash';

const maxWords = 256;

/** The texts between the commas of `{a,b}`; commas in quotes and in inner braces are not theirs. */
const elements = (text: string): string[] => {
  const found: string[] = [];
  let depth = 0;
  let quote = '';
  let start = 1;
  for (let index = 1; index < text.length - 1; index += 1) {
    const character = text[index] as string;
    if (character === '\\') index += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'" || character === '`') quote = character;
    else if (character === '{' || character === '(') depth += 1;
    else if (character === '}' || character === ')') depth -= 1;
    else if (character === ',' && depth === 0) {
      found.push(text.slice(start, index));
      start = index + 1;
    }
  }
  found.push(text.slice(start, -1));
  return found;
};

/** A range of numbers or letters is one value that nobody needs to know. */
const alternatives = (text: string): string[] => {
  const parts = elements(text);
  return parts.length === 1 ? ['$RANDOM'] : parts;
};

/** The words, as source, that the braces of a word make; undefined without braces. */
export const braceWords = (word: Word): string[] | 'too many' | undefined => {
  if (!word.text.includes('{') || !word.parts?.some(({ type }) => type === 'BraceExpansion')) return undefined;
  let words = [''];
  for (const part of word.parts) {
    const endings = part.type === 'BraceExpansion' ? alternatives(part.text) : [part.text];
    if (words.length * endings.length > maxWords) return 'too many';
    words = words.flatMap((start) => endings.map((ending) => start + ending));
  }
  return words;
};
