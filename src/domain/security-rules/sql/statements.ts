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

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  isDigit(code) ||
  code === 95 ||
  code === 36 ||
  (code > 0xa0 && code !== 0xfffc);
const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 0xa0;

/** Marks that a rule looks at; the others only part words. */
const marks = '=<>()|%+*';
const dollarQuote = /\$[A-Za-z_]{0,40}\$/y;

/** One walk over the text; of the dialects only what quotes and comments need. */
class Reading {
  readonly statements: SqlToken[][] = [];
  isOpen = false;
  private tokens: SqlToken[] = [];
  private at = 0;

  constructor(private readonly source: string) {
    while (this.at < source.length) this.next();
    this.end();
  }

  private add(kind: SqlToken['kind'], text: string): void {
    this.tokens.push({ kind, text });
  }

  private end(): void {
    // A single word does nothing.
    if (this.tokens.length > 1) this.statements.push(this.tokens);
    this.tokens = [];
  }

  /** The text up to a fence, behind which it goes on; without one, the rest. */
  private upTo(fence: string, from: number): string {
    const end = this.source.indexOf(fence, from);
    this.isOpen ||= end === -1;
    const text = this.source.slice(from, end === -1 ? undefined : end);
    this.at = end === -1 ? this.source.length : end + fence.length;
    return text;
  }

  /** Text in quotes; a doubled quote is one, and a backslash takes the next character with it. */
  private quoted(close: string): string {
    const { source } = this;
    const start = this.at + 1;
    let end = start;
    while (end < source.length) {
      const character = source[end];
      if (character === close && source[end + 1] !== close) break;
      end += character === close || (character === '\\' && close === "'") ? 2 : 1;
    }
    this.isOpen ||= end >= source.length;
    this.at = end + 1;
    return source.slice(start, end);
  }

  private word(): void {
    const { source } = this;
    let end = this.at;
    while (end < source.length) {
      const code = source.charCodeAt(end);
      if (!isWord(code) && !(code === 46 && isWord(source.charCodeAt(end + 1)))) break;
      end += 1;
    }
    const isNumber = isDigit(source.charCodeAt(this.at));
    this.add(isNumber ? 'number' : 'word', source.slice(this.at, end).toUpperCase());
    this.at = end;
  }

  private next(): void {
    const { source, at } = this;
    const code = source.charCodeAt(at);
    const character = source[at] as string;
    if (isBlank(code)) this.at += 1;
    else if (character === '-' && source[at + 1] === '-') this.comment();
    else if (character === '#' && (at === 0 || isBlank(source.charCodeAt(at - 1)))) this.comment();
    else if (character === '/' && source[at + 1] === '*') this.add('comment', this.upTo('*/', at + 2));
    else if (character === "'") this.add('string', this.quoted("'"));
    else if (character === '"' || character === '`') this.add('name', this.quoted(character));
    else if (character === '[' && !isWord(source.charCodeAt(at - 1))) this.add('name', this.quoted(']'));
    else if (character === holeMark) {
      this.add('hole', character);
      this.at += 1;
    } else if (character === '$' && this.dollars()) return;
    else if (isWord(code)) this.word();
    else {
      this.at += 1;
      if (character === ';') this.end();
      else if (marks.includes(character)) this.mark(character);
    }
  }

  /** A run of the same mark is one: `||` as well as `|`. */
  private mark(character: string): void {
    const before = this.tokens.at(-1);
    if (before?.kind !== 'mark' || before.text !== character) this.add('mark', character);
  }

  private comment(): void {
    const end = this.source.indexOf('\n', this.at);
    const stop = end === -1 ? this.source.length : end;
    this.add('comment', this.source.slice(this.at, stop));
    this.at = stop;
  }

  /** PostgreSQL's `$tag$ … $tag$`. */
  private dollars(): boolean {
    dollarQuote.lastIndex = this.at;
    const fence = dollarQuote.exec(this.source)?.[0];
    if (fence === undefined) return false;
    this.add('string', this.upTo(fence, this.at + fence.length));
    return true;
  }
}

/** The text read last: several rules ask for the same one. */
let last: { source: string; sql: Sql } | undefined;

export const readSql = (source: string): Sql => {
  if (last?.source !== source) {
    const { statements, isOpen } = new Reading(source);
    last = { source, sql: { statements, isOpen } };
  }
  return last.sql;
};
