import {
  forEachChild,
  parse,
  type DoubleQuotedChild,
  type ParameterExpansionPart,
  type ParsedScript,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { braceWords } from './braces.js';
import { operated } from './parameter.js';
import type { Scope, Value } from './scope.js';
import { concat, emptyText, fromVariable, holeMark, marksIn, plain, split, unknown, type Text } from './text.js';

/** What expanding needs of the reader of scripts. */
export interface Substitutions {
  /** Standard output of a script that runs in a copy of the scope. */
  output(script: ParsedScript, scope: Scope): Text;
  /** Path under which the output of a script can be read. */
  asFile(script: ParsedScript, scope: Scope): Text;
  /** One of several values; the caller is asked again until each was chosen. */
  choose<T>(among: readonly T[]): T;
  /** A variable from outside stands where its value may become several words. */
  suspect(name: string): void;
  /** The script holds more than a reader can follow. */
  giveUp(reason: string): void;
}

/** Names that say that others choose the value. */
const untrusted =
  /(?:^|_)(?:USER_?INPUT|INPUT|UNTRUSTED|QUERY|QUERY_STRING|PARAMS?|PAYLOAD|REQUEST|COMMENT_BODY|ISSUE_TITLE|PR_TITLE)$/i;

/** Fields under construction: words fall apart where an unquoted value has blanks. */
class Fields {
  readonly done: Text[] = [];
  private parts: Text[] = [];
  private hasQuotes = false;

  add(text: Text, isQuoted: boolean): void {
    this.parts.push(text);
    this.hasQuotes ||= isQuoted;
  }
  addSplit(text: Text, separators: string): void {
    const open = { ...text, holes: text.holes.map((hole) => ({ ...hole, unquoted: true })) };
    split(open, separators).forEach((piece, index) => {
      if (index > 0) this.end();
      if (piece.text !== '') this.parts.push(piece);
    });
  }
  end(): void {
    if (this.parts.length > 0 || this.hasQuotes)
      this.done.push(concat(this.parts.length > 0 ? this.parts : [emptyText]));
    this.parts = [];
    this.hasQuotes = false;
  }
}

const trimmed = (output: Text): Text => {
  let end = output.text.length;
  while (output.text[end - 1] === '\n') end -= 1;
  return end === output.text.length ? output : { ...output, text: output.text.slice(0, end) };
};

const isList = (part: WordPart): boolean =>
  (part.type === 'SimpleExpansion' && (part.text === '$@' || part.text === '$*')) ||
  (part.type === 'ParameterExpansion' && (part.parameter === '@' || part.index?.text === '@'));

/** Words of a shell as the fields that the program gets (POSIX 2.6), as far as they are known. */
export class Expander {
  constructor(private readonly substitutions: Substitutions) {}

  /** The fields of a word: none, one or many. */
  fields(word: Word, scope: Scope): Text[] {
    const braces = braceWords(word);
    if (braces === 'too many') this.substitutions.giveUp('braces make too many words');
    else if (braces) {
      return braces.flatMap((source) => {
        const command = parse(`: ${source}`).commands[0]?.command;
        return command?.type === 'Command'
          ? command.args.flatMap((inner) => (inner.type === 'Word' ? this.fields(inner, scope) : [plain(inner.text)]))
          : [];
      });
    }
    if (!word.parts) return [this.literal(word.value, scope)];
    const fields = new Fields();
    this.parts(word.parts, scope, fields);
    fields.end();
    return fields.done;
  }

  /** A word where a shell makes no fields of it: in an assignment, after `<<<`, as a target. */
  single(word: Word, scope: Scope): Text {
    return word.parts
      ? concat([emptyText, ...word.parts.map((part) => this.one(part, scope))])
      : this.literal(word.value, scope);
  }

  /** The body of a here-document. */
  body(parts: readonly WordPart[], scope: Scope): Text {
    return concat([emptyText, ...parts.map((part) => this.one(part, scope))]);
  }

  private parts(parts: readonly WordPart[], scope: Scope, fields: Fields): void {
    const separators = scope.lookup('IFS')?.at(-1)?.[0]?.text ?? ' \t\n';
    for (const part of parts) {
      if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') {
        fields.add(emptyText, true);
        for (const child of part.parts) this.quoted(child, scope, fields);
      } else if (isList(part)) {
        this.values(part, scope).forEach((value, index) => {
          if (index > 0) fields.end();
          fields.addSplit(value, separators);
        });
      } else if (/Expansion$/.test(part.type) && part.type !== 'BraceExpansion') {
        this.watch(part, scope);
        fields.addSplit(this.one(part, scope), separators);
      } else fields.add(this.one(part, scope), /Quoted$/.test(part.type));
    }
  }

  private watch(part: WordPart, scope: Scope): void {
    const name =
      part.type === 'SimpleExpansion' ? part.text.slice(1) : part.type === 'ParameterExpansion' ? part.parameter : '';
    if (!untrusted.test(name)) return;
    const value = scope.lookup(name)?.at(-1);
    if (!value || value.some(({ variables }) => variables.length > 0)) this.substitutions.suspect(name);
  }

  private quoted(part: DoubleQuotedChild, scope: Scope, fields: Fields): void {
    if (!isList(part)) return fields.add(this.one(part, scope), true);
    this.values(part, scope).forEach((value, index) => {
      if (index > 0) fields.end();
      fields.add(value, true);
    });
  }

  /** Text as it stands in the script; marks in it are the script's own unknown parts. */
  private literal(value: string, { sourceHole }: Scope): Text {
    if (!sourceHole || !value.includes(holeMark)) return plain(value);
    return {
      text: value,
      holes: marksIn(value).map(() => sourceHole),
      variables: [],
      isDecoded: false,
    };
  }

  private one(part: WordPart, scope: Scope): Text {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
      case 'Glob':
        return this.literal(part.value, scope);
      case 'DoubleQuoted':
      case 'LocaleString':
        return concat([emptyText, ...part.parts.map((child) => this.one(child, scope))]);
      case 'SimpleExpansion':
      case 'ParameterExpansion': {
        const values = this.values(part, scope);
        return concat([emptyText, ...values.flatMap((value, index) => (index > 0 ? [plain(' '), value] : [value]))]);
      }
      case 'CommandExpansion':
        return part.script ? trimmed(this.substitutions.output(part.script, scope)) : unknown('output');
      case 'ProcessSubstitution':
        return part.script ? this.substitutions.asFile(part.script, scope) : unknown('output');
      case 'ArithmeticExpansion':
        if (part.expression) this.nested(part.expression, scope);
        return unknown('number');
      default:
        return plain(part.text);
    }
  }

  /** Runs the scripts inside of arithmetic and of tests, whose values do not matter. */
  nested(node: SyntaxNode, scope: Scope): void {
    if (
      (node.type === 'CommandExpansion' ||
        node.type === 'ArithmeticCommandExpansion' ||
        node.type === 'ProcessSubstitution') &&
      node.script
    ) {
      this.substitutions.output(node.script, scope);
    } else if (node.type === 'Word') this.fields(node, scope);
    else forEachChild(node, (child) => this.nested(child, scope));
  }

  private values(part: WordPart, scope: Scope): Value {
    if (part.type === 'SimpleExpansion')
      return this.lookup(part.text.slice(1), scope) ?? [this.missing(part.text.slice(1), scope)];
    return part.type === 'ParameterExpansion' ? this.parameter(part, scope) : [];
  }

  private lookup(name: string, scope: Scope): Value | undefined {
    const alternatives = scope.lookup(name);
    return alternatives && this.substitutions.choose(alternatives);
  }

  private missing(name: string, scope: Scope): Text {
    return scope.endsOnUnset ? unknown('input') : fromVariable(emptyText, name);
  }

  private parameter(part: ParameterExpansionPart, scope: Scope): Value {
    if (part.prefix === '#') return [unknown('number')];
    let name = part.parameter;
    if (part.prefix === '!') name = this.lookup(name, scope)?.[0]?.text ?? '';
    const found = this.lookup(name, scope);
    const single = (word: Word): Text => this.single(word, scope);
    const { operation } = part;
    if (operation?.type === 'Default') return this.defaulted(name, found, operation, scope);
    if (!found) return [this.missing(name, scope)];
    const index = part.index && single(part.index).text;
    const elements =
      index === '@' || index === '*' || name === '@' || name === '*'
        ? found
        : [found[Number(index ?? 0) || 0] ?? emptyText];
    if (operation?.type === 'Slice' && elements.length !== 1) return elements;
    return elements.map((element) => operated(element, part, single));
  }

  private defaulted(
    name: string,
    found: Value | undefined,
    { operator, operand }: { operator: string; operand: Word },
    scope: Scope,
  ): Value {
    const isEmpty = found === undefined || (operator.startsWith(':') && found.every(({ text }) => text === ''));
    const kind = operator.at(-1);
    if (kind === '+') return isEmpty ? [emptyText] : [this.single(operand, scope)];
    if (kind === '?') return isEmpty ? [unknown('input')] : (found ?? []);
    if (!isEmpty && found) {
      return found.some(({ holes }) => holes.length > 0)
        ? this.substitutions.choose([found, [this.single(operand, scope)]])
        : found;
    }
    const value = [this.single(operand, scope)];
    if (kind === '=') scope.assign(name, value);
    return value;
  }
}
