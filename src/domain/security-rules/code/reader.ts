import type { Language } from '../shell/invocation.js';
import { concat, emptyText, holeMark, marksIn, plain, unknown, type Hole, type Text } from '../shell/text.js';
import type { Calls } from './calls.js';
import { Tokens, type Piece, type Token } from './tokens.js';
import { nothing, textValue, unknownValue, type Value } from './value.js';

const maxDepth = 60;
const maxParts = 64;

/**
 * Reads expressions of seven languages that are alike where it matters: names joined by dots, calls, texts put together.
 * It knows values as far as they are written down, and hands every call to `calls`.
 */
export class CodeReader {
  private tokens: readonly Token[] = [];
  private at = 0;
  private depth = 0;
  private readonly variables = new Map<string, Value>();

  constructor(
    private readonly language: Language,
    private readonly calls: Calls,
    private readonly sourceHoles: readonly Hole[],
  ) {}

  /** @returns the value of the last expression */
  read(source: string): Value {
    if (this.depth > maxDepth) return unknownValue;
    const outer = { tokens: this.tokens, at: this.at };
    this.depth += 1;
    this.tokens = new Tokens(source, this.language).list;
    this.at = 0;
    this.loops();
    let value = nothing;
    while (this.at < this.tokens.length) {
      const start = this.at;
      value = this.expression();
      if (this.at === start) this.at += 1;
    }
    this.depth -= 1;
    ({ tokens: this.tokens, at: this.at } = outer);
    return value;
  }

  /** Variables that run over a list written down: they have its elements, wherever the loop's body stands. */
  private loops(): void {
    this.tokens.forEach((token, index) => {
      const [name, word, open] = this.tokens.slice(index + 1, index + 4);
      if (token.kind !== 'name' || !/^(?:for|const|let|var)$/.test(token.text) || name?.kind !== 'name') return;
      if (word?.kind !== 'name' || !/^(?:in|of)$/.test(word.text) || open?.kind !== 'mark' || !/[[(]/.test(open.text))
        return;
      this.at = index + 3;
      this.variables.set(name.text, this.term());
    });
    this.at = 0;
  }

  private mark(offset = 0): string {
    const token = this.tokens[this.at + offset];
    return token?.kind === 'mark' ? token.text : '';
  }

  private get joins(): string {
    if (this.language === 'perl' || this.language === 'php') return '.';
    return this.language === 'lua' ? '..' : '+';
  }

  private joiner(): boolean {
    if (this.joins === '..') return this.mark() === '.' && this.mark(1) === '.';
    return this.mark() === this.joins && this.mark(1) !== '=' && this.mark(1) !== this.joins;
  }

  /** Terms put together, up to a comma, a closing bracket or another operator. */
  private expression(): Value {
    if (this.depth > maxDepth) {
      this.at = this.tokens.length;
      return unknownValue;
    }
    this.depth += 1;
    const first = this.term();
    const parts: Text[] = [first.text];
    let value = first;
    const kind = first.chain?.at(-1) === 'Path' ? { chain: first.chain } : {};
    const join = (...more: readonly Text[]): void => {
      parts.push(...more);
      // What is put together of more pieces is data.
      value = parts.length > maxParts ? unknownValue : { ...textValue(concat(parts)), ...kind };
    };
    for (;;) {
      const next = this.tokens[this.at];
      if (this.joiner()) {
        this.at += this.joins.length;
        join(this.term().text);
      } else if (
        next?.kind === 'string' &&
        first !== nothing &&
        (this.language === 'python' || this.language === 'awk') &&
        this.isText(value)
      ) {
        join(this.term().text);
      } else if (this.mark() === '%' && this.language === 'python') {
        this.at += 1;
        value = this.filled(value, this.term());
        parts.splice(0, parts.length, value.text);
      } else if (this.mark() === '/' && this.language === 'python') {
        this.at += 1;
        join(plain('/'), this.term().text);
      } else break;
    }
    if (this.language === 'awk' && this.mark() === '|' && this.isText(value)) this.calls.shell(value.text);
    this.depth -= 1;
    return value;
  }

  private isText({ text }: Value): boolean {
    return text.text !== '';
  }

  /** `'…%s…' % value`. */
  private filled({ text }: Value, by: Value): Value {
    const places = text.text.split(/%[srd]/);
    const values = by.items ?? [by];
    return textValue(
      concat(
        places.flatMap((piece, index) =>
          index > 0 ? [values[index - 1]?.text ?? unknown('input'), plain(piece)] : [plain(piece)],
        ),
      ),
    );
  }

  private term(): Value {
    const token = this.tokens[this.at];
    if (!token) return nothing;
    if (token.kind === 'string') {
      this.at += 1;
      const text = this.string(token.pieces);
      if (token.runs) {
        this.calls.shell(text);
        return unknownValue;
      }
      return this.members(textValue(text), []);
    }
    if (token.kind === 'name') return this.named(token.text);
    if (token.kind === 'number') {
      this.at += 1;
      return token.text === 'pattern' ? this.members(nothing, ['pattern']) : textValue(plain(token.text));
    }
    if (token.text === '(' || token.text === '[') {
      const isList = token.text === '[';
      const items = this.group();
      const value: Value =
        isList || items.length > 1 ? { text: items[0]?.text ?? emptyText, items } : (items[0] ?? nothing);
      return this.members(value, value.chain ?? []);
    }
    if (token.text === '{') return { ...unknownValue, items: this.group() };
    return this.passing();
  }

  /** Marks that stand alone: they carry no value, though awk's say where output goes. */
  private passing(): Value {
    if (/[)\]},;]/.test(this.mark())) return nothing;
    const mark = this.mark();
    const before = this.tokens[this.at - 1];
    this.at += 1;
    const next = this.tokens[this.at];
    // `const { execSync: run } = …`: another name for a member.
    if (this.language === 'javascript' && mark === ':') this.rename(before, next);
    if (this.language === 'awk' && next?.kind === 'string') {
      if (mark === '|') this.calls.shell(this.string(next.pieces));
      if (mark === '>') this.calls.write(this.string(next.pieces));
    }
    return nothing;
  }

  private rename(before: Token | undefined, after: Token | undefined): void {
    if (before?.kind !== 'name' || after?.kind !== 'name' || this.variables.has(after.text)) return;
    this.variables.set(after.text, { ...unknownValue, chain: [before.text] });
  }

  private string(pieces: readonly Piece[]): Text {
    return concat([
      emptyText,
      ...pieces.map((piece) => ('text' in piece ? this.literal(piece.text) : this.inserted(piece.code))),
    ]);
  }

  private inserted(code: string): Text {
    const { text } = this.read(code);
    return text.text === '' ? unknown('input') : text;
  }

  private literal(text: string): Text {
    const hole = this.sourceHoles[0];
    if (!hole || !text.includes(holeMark)) return plain(text);
    return {
      text,
      holes: marksIn(text).map(() => hole),
      variables: [],
      isDecoded: false,
    };
  }

  /** Values between brackets, the opening one being next. */
  private group(): Value[] {
    const end = { '(': ')', '[': ']', '{': '}' }[this.mark()] ?? ')';
    this.at += 1;
    const items: Value[] = [];
    while (this.at < this.tokens.length && this.mark() !== end) {
      const start = this.at;
      const value = this.expression();
      if (value !== nothing) items.push(value);
      if (this.at === start) this.at += 1;
    }
    this.at += 1;
    return items;
  }

  private named(name: string): Value {
    this.at += 1;
    if (name === 'as' && this.language === 'python') this.rename(this.tokens[this.at - 2], this.tokens[this.at]);
    if (
      /^(?:const|let|var|my|our|local|return|await|new|async|yield|import|from|print|echo|not|and|or|if|else|elif|for|while|in|do|then|end|begin|BEGIN|END|lambda|raise|throw|del|puts|use|no|void|typeof)$/.test(
        name,
      ) &&
      this.mark() !== '(' &&
      this.mark() !== '.' &&
      this.mark() !== '='
    )
      return nothing;
    if (this.language === 'python' && this.mark() === ':' && this.mark(1) === '=') this.at += 1;
    const isAssignment = this.mark() === '=' && this.mark(1) !== '=' && this.mark(1) !== '>' && this.mark(1) !== '~';
    if (isAssignment) {
      this.at += 1;
      const value = this.expression();
      this.variables.set(name, value);
      this.calls.assigned(name, value);
      return value;
    }
    const known = this.variables.get(name);
    return known ? this.members(known, known.chain ?? [name]) : this.members(this.calls.member([name]), [name]);
  }

  /** How many marks stand between a value and its member; 0 without a member. */
  private dots(): number {
    const mark = this.mark();
    const two = mark + this.mark(1);
    if (two === '?.' || two === '::' || two === '->') return 2;
    return (mark === '.' && this.joins !== '.' && two !== '..') || (mark === ':' && this.language === 'lua') ? 1 : 0;
  }

  /** Members, indices and calls behind a value. */
  private members(start: Value, from: readonly string[]): Value {
    let value = start;
    let receiver = nothing;
    let chain = from;
    const follow = (name: string): void => {
      chain = [...chain.slice(-8), name];
      receiver = value;
      value = this.calls.member(chain);
    };
    for (;;) {
      const dots = this.dots();
      const next = this.tokens[this.at + dots];
      if (dots > 0 && next?.kind === 'name') {
        this.at += dots + 1;
        follow(next.text);
      } else if (this.mark() === '[' && chain.length > 0) follow(this.group()[0]?.text.text ?? '');
      else if (this.mark() === '(' && chain.length > 0) {
        value = this.calls.call(chain, this.group(), receiver);
        chain = value.chain ?? [...chain.slice(-8), '()'];
      } else break;
    }
    if (chain.at(-1) === '()' || chain.length === 0 || !this.takesBareArguments(chain)) return value;
    return this.calls.call(chain, this.bareArguments(), receiver);
  }

  /** Perl, Ruby and their like call without brackets; a template behind `$` is a shell's line in JavaScript. */
  private takesBareArguments(chain: readonly string[]): boolean {
    const next = this.tokens[this.at];
    if (this.language === 'javascript') return chain[0] === '$' && chain.length === 1 && next?.kind === 'string';
    if (this.language === 'python' || this.language === 'awk' || !next) return false;
    return next.kind === 'string' || (next.kind === 'name' && this.calls.isKnown(chain));
  }

  /** Arguments of a call without brackets, as Perl and Ruby have it. */
  private bareArguments(): Value[] {
    const args: Value[] = [];
    for (;;) {
      args.push(this.expression());
      if (this.mark() !== ',') return args;
      this.at += 1;
    }
  }
}
