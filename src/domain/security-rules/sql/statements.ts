import { holeMark } from '../shell/text.js';

export interface SqlToken {
  readonly kind: 'word' | 'string' | 'name' | 'number' | 'mark' | 'hole' | 'comment';
  /** Words in upper case; strings without their quotes. */
  readonly text: string;
}

/** SQL cut into statements; `isOpen` when a string or a comment does not end, as after a quote that broke out. */
export interface Sql {
  readonly statements: readonly (readonly SqlToken[])[];
  readonly isOpen: boolean;
}

const isWord = (character: string | undefined): boolean =>
  character !== undefined && /[A-Za-z0-9_$\u00a0-\uffee]/.test(character);
const closing: ReadonlyMap<string, string> = new Map([
  ["'", "'"],
  ['"', '"'],
  ['`', '`'],
  ['[', ']'],
]);

/** One walk over the text; of the dialects only what quotes and comments need. */
export const readSql = (source: string): Sql => {
  const statements: SqlToken[][] = [];
  let tokens: SqlToken[] = [];
  let isOpen = false;
  let at = 0;
  const take = (end: number, skip: number): string => {
    const text = source.slice(at, end === -1 ? source.length : end);
    if (end === -1) isOpen = true;
    at = end === -1 ? source.length : end + skip;
    return text;
  };
  const quoted = (quote: string): string => {
    at += 1;
    const start = at;
    while (at < source.length && (source[at] !== quote || source[at + 1] === quote)) {
      if (source[at] === '\\' && quote === "'") at += 1;
      at += source[at] === quote ? 2 : 1;
    }
    isOpen ||= at >= source.length;
    const text = source.slice(start, at);
    at += 1;
    return text;
  };
  const end = (): void => {
    if (tokens.some(({ kind }) => kind !== 'comment')) statements.push(tokens);
    tokens = [];
  };
  while (at < source.length) {
    const character = source[at] as string;
    const two = source.slice(at, at + 2);
    const dollars = character === '$' ? /^\$[A-Za-z_]{0,40}\$/.exec(source.slice(at, at + 44))?.[0] : undefined;
    if (/\s/.test(character)) at += 1;
    else if (two === '--' || (character === '#' && /[\s;]/.test(source[at - 1] ?? ' '))) {
      const stop = source.indexOf('\n', at);
      tokens.push({ kind: 'comment', text: take(stop === -1 ? source.length : stop, 1) });
    } else if (two === '/*') tokens.push({ kind: 'comment', text: take(source.indexOf('*/', at + 2), 2) });
    else if (dollars) {
      at += dollars.length;
      tokens.push({ kind: 'string', text: take(source.indexOf(dollars, at), dollars.length) });
    } else if (closing.has(character)) {
      const isIndex = character === '[' && isWord(source[at - 1]);
      if (isIndex) {
        tokens.push({ kind: 'mark', text: character });
        at += 1;
      } else
        tokens.push({ kind: character === "'" ? 'string' : 'name', text: quoted(closing.get(character) as string) });
    } else if (character === holeMark) {
      tokens.push({ kind: 'hole', text: character });
      at += 1;
    } else if (isWord(character)) {
      const start = at;
      while (isWord(source[at]) || (source[at] === '.' && isWord(source[at + 1]))) at += 1;
      const text = source.slice(start, at);
      tokens.push({ kind: /^\d/.test(text) ? 'number' : 'word', text: text.toUpperCase() });
    } else {
      at += 1;
      if (character === ';') end();
      else tokens.push({ kind: 'mark', text: character });
    }
  }
  end();
  return { statements, isOpen };
};
