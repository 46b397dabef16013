import type { Language } from '../shell/invocation.js';

/** A piece of a string: text as it is, or code whose value is put in. */
export type Piece = { readonly text: string } | { readonly code: string };

export type Token =
  | { readonly kind: 'name' | 'mark' | 'number'; readonly text: string }
  | { readonly kind: 'string'; readonly pieces: readonly Piece[]; readonly runs: boolean };

const escapes: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
  e: '\u001b',
};
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isNamePart = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  isDigit(code) ||
  code === 95 ||
  code === 36 ||
  code > 0xa0;
const isNameStart = (code: number): boolean => code === 64 || (isNamePart(code) && !isDigit(code));
const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 0xa0;
const closing: Record<string, string> = { '(': ')', '[': ']', '{': '}', '<': '>' };
const hashComments = new Set<Language>(['python', 'perl', 'ruby', 'php', 'awk', 'shell']);

/** Cuts program text into names, marks and strings: enough to see what is called with which texts. One walk, whatever the text. */
export class Tokens {
  readonly list: Token[] = [];
  private at = 0;

  constructor(
    private readonly source: string,
    private readonly language: Language,
  ) {
    while (this.at < source.length) this.next();
  }

  private next(): void {
    const { source, at } = this;
    const character = source[at] as string;
    const code = source.charCodeAt(at);
    if (isBlank(code)) this.at += 1;
    else if (this.comment()) return;
    else if (isNameStart(code)) this.name();
    else if (isDigit(code)) this.number();
    else if (character === '"' || character === "'" || character === '`') this.string(character, '');
    else if (
      character === '%' &&
      this.language === 'ruby' &&
      /[xqQ]/.test(source[at + 1] ?? '') &&
      /[^\w\s]/.test(source[at + 2] ?? ' ')
    )
      this.generic(at + 2, source[at + 1] as string);
    else if (character === '/' && this.startsPattern()) this.pattern();
    else if (character === '<' && this.language === 'perl' && this.glob()) return;
    else {
      this.list.push({ kind: 'mark', text: character });
      this.at += 1;
    }
  }

  /** Perl's `</etc/*>`: the names that a pattern finds. */
  private glob(): boolean {
    const found = /^<([/~.*\w$-]{1,200})>/.exec(this.source.slice(this.at, this.at + 204));
    if (!found) return false;
    this.list.push({ kind: 'string', pieces: [{ text: found[1] ?? '' }], runs: false });
    this.at += found[0].length;
    return true;
  }

  private skipTo(end: string): void {
    const found = this.source.indexOf(end, this.at + 1);
    this.at = found === -1 ? this.source.length : found + end.length;
  }

  private comment(): boolean {
    const { source, at, language } = this;
    const two = source.slice(at, at + 2);
    const cLike = language === 'javascript' || language === 'php';
    if (cLike && two === '/*') this.skipTo('*/');
    else if (
      (cLike && two === '//') ||
      (language === 'lua' && two === '--') ||
      (source[at] === '#' && hashComments.has(language))
    ) {
      this.skipTo('\n');
      this.list.push({ kind: 'mark', text: ';' });
    } else return false;
    return true;
  }

  private name(): void {
    const { source } = this;
    let end = this.at + 1;
    while (end < source.length && isNamePart(source.charCodeAt(end))) end += 1;
    const text = source.slice(this.at, end);
    const quote = source[end];
    if (this.language === 'python' && /^[rbfu]{1,2}$/i.test(text) && (quote === '"' || quote === "'")) {
      this.at = end;
      this.string(quote, text.toLowerCase());
    } else if (this.language === 'perl' && /^(?:q|qq|qx|qw)$/.test(text) && /[^\w\s,;=)]/.test(quote ?? ' '))
      this.generic(end, text);
    else {
      this.list.push({ kind: 'name', text });
      this.at = end;
    }
  }

  private number(): void {
    let end = this.at + 1;
    while (/[0-9A-Za-z_.]/.test(this.source[end] ?? '')) end += 1;
    this.list.push({ kind: 'number', text: this.source.slice(this.at, end) });
    this.at = end;
  }

  /** Perl's and Ruby's own quotes: `q(…)`, `qx{…}`, `%x(…)`. */
  private generic(open: number, form: string): void {
    const { source } = this;
    const opening = source[open] as string;
    const end = source.indexOf(closing[opening] ?? opening, open + 1);
    const stop = end === -1 ? source.length : end;
    const raw = source.slice(open + 1, stop);
    const runs = form === 'qx' || form === 'x';
    this.list.push({
      kind: 'string',
      pieces: form === 'q' || form === 'qw' ? [{ text: raw }] : this.pieces(raw, '"', ''),
      runs,
    });
    this.at = stop + 1;
  }

  private string(quote: string, prefix: string): void {
    const { source, language } = this;
    const triple = quote.repeat(3);
    const fence = language === 'python' && source.startsWith(triple, this.at) ? triple : quote;
    let end = this.at + fence.length;
    while (end < source.length && !source.startsWith(fence, end)) {
      if (
        fence === quote &&
        quote !== '`' &&
        source[end] === '\n' &&
        language !== 'perl' &&
        language !== 'php' &&
        language !== 'ruby'
      )
        break;
      end += source[end] === '\\' ? 2 : 1;
    }
    const raw = source.slice(this.at + fence.length, end);
    const runs = quote === '`' && (language === 'perl' || language === 'ruby' || language === 'php');
    this.list.push({ kind: 'string', pieces: this.pieces(raw, quote, prefix), runs });
    this.at = end + fence.length;
  }

  /** Whether a value may stand here, so that `/` begins a pattern and does not divide. */
  private startsPattern(): boolean {
    if (
      this.language !== 'javascript' &&
      this.language !== 'perl' &&
      this.language !== 'ruby' &&
      this.language !== 'awk'
    )
      return false;
    const last = this.list.at(-1);
    return (
      !last ||
      (last.kind === 'mark'
        ? !/[)\]}]/.test(last.text)
        : last.kind === 'name' && /^(?:return|typeof|case|in|of)$/.test(last.text))
    );
  }

  private pattern(): void {
    let end = this.at + 1;
    while (end < this.source.length && this.source[end] !== '/' && this.source[end] !== '\n')
      end += this.source[end] === '\\' ? 2 : 1;
    this.list.push({ kind: 'number', text: 'pattern' });
    this.at = end + 1;
  }

  /** Escapes undone, and the code of `${…}`, `#{…}`, `{…}` and `$name` taken out. */
  private pieces(raw: string, quote: string, prefix: string): Piece[] {
    if (prefix.includes('r') && !prefix.includes('f')) return [{ text: raw }];
    const opens = this.opening(quote, prefix);
    const pieces: Piece[] = [];
    let text = '';
    for (let index = 0; index < raw.length; index += 1) {
      const character = raw[index] as string;
      if (character === '\\') {
        const [value, length] = this.escape(raw, index + 1);
        text += value;
        index += length;
      } else if (opens && raw.startsWith(opens, index) && !(opens === '{' && raw[index + 1] === '{')) {
        const end = matching(raw, index + opens.length - 1);
        pieces.push({ text }, { code: raw.slice(index + opens.length, end) });
        text = '';
        index = end;
      } else if (
        character === '$' &&
        quote === '"' &&
        (this.language === 'perl' || this.language === 'php') &&
        /[A-Za-z_{]/.test(raw[index + 1] ?? '')
      ) {
        let end = index + 1;
        while (/[A-Za-z0-9_]/.test(raw[end] ?? '')) end += 1;
        pieces.push({ text }, { code: raw.slice(index, end) });
        text = '';
        index = end - 1;
      } else text += character;
    }
    return [...pieces, { text }];
  }

  private opening(quote: string, prefix: string): string | undefined {
    if (this.language === 'javascript') return quote === '`' ? '${' : undefined;
    if (this.language === 'python') return prefix.includes('f') ? '{' : undefined;
    if (this.language === 'ruby') return quote === "'" ? undefined : '#{';
    return this.language === 'php' && quote === '"' ? '{$' : undefined;
  }

  private escape(raw: string, at: number): [string, number] {
    const hex = /^(?:x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{1,6})|([0-7]{3}))/.exec(raw.slice(at, at + 9));
    if (hex) {
      const code = Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? '', hex[3] ? 8 : 16);
      const length = hex[0].length + (hex[0].includes('{') && raw[at + hex[0].length] === '}' ? 1 : 0);
      return [code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD', length];
    }
    const character = raw[at] ?? '';
    return [character === '\n' ? '' : (escapes[character] ?? character), 1];
  }
}

/** Where the bracket at `open` ends; the end of the text if it does not. */
const matching = (text: string, open: number): number => {
  let depth = 0;
  for (let index = open; index < text.length; index += 1) {
    if (text[index] === '{') depth += 1;
    else if (text[index] === '}') {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return text.length;
};
