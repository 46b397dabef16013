import { codeReader } from './code-spans.js';
import { bodyObjectEnd } from './object-end.js';
import { openingTag, type TagToken, type TagTool } from './tag-tokens.js';
import type { AgentTool } from './tools.js';

/** Bodies that are searched for the end of an object without there being one: beyond, the next closing tag is the end. */
const maxVainSearches = 10;

/** One tag, from its opening to where reading goes on. */
type Found =
  | { kind: 'body'; attributes: ReadonlyMap<string, string>; body: string; end: number }
  | { kind: 'malformed'; why: string; end: number };

/** Goes over a text from left to right, past what is code. */
export class TagReader<Tool extends TagTool = AgentTool> {
  quoted = 0;
  private at = 0;
  private index = 0;
  private vainSearches = 0;
  private mark = -1;
  private line = { number: 1, at: 0 };
  private readonly codeFrom: (at: number) => number | null;

  constructor(
    private readonly text: string,
    private readonly tokens: readonly TagToken<Tool>[],
  ) {
    ({ codeFrom: this.codeFrom } = codeReader(text));
  }

  goOn(at: number): void {
    this.at = at;
    while ((this.tokens[this.index]?.start ?? Infinity) < at) this.index += 1;
  }

  /** The next opening tag in prose. Closing tags of their own are nothing to do and nothing to say. */
  next(): TagToken<Tool> | null {
    for (let token = this.tokens[this.index]; token; token = this.tokens[this.index]) {
      const code = this.codeBefore(token.start);
      if (code !== null) {
        const before = this.index;
        this.goOn(code);
        this.quoted += this.tokens.slice(before, this.index).filter(({ isClosing }) => !isClosing).length;
        continue;
      }
      this.at = token.start;
      if (!token.isClosing) return token;
      this.goOn(token.end);
    }
    return null;
  }

  /** The end of the code that `until` stands in; null: it stands in prose. */
  private codeBefore(until: number): number | null {
    for (let mark = this.markFrom(this.at); mark < until; mark = this.markFrom(this.at)) {
      const [indent] = /(?:^|\n) {0,3}$/.exec(this.text.slice(Math.max(0, mark - 4), mark)) ?? [];
      const line =
        indent === undefined || (mark > 3 && !indent.startsWith('\n')) ? -1 : mark - indent.replace('\n', '').length;
      const end = (line >= this.at ? this.codeFrom(line) : null) ?? this.codeFrom(mark);
      if (end !== null && end > until) return end;
      this.at = end ?? mark + 1;
      // A run of marks that opens nothing is passed as a whole.
      while (end === null && this.text[this.at] === this.text[mark]) this.at += 1;
    }
    return null;
  }

  /** The first place from `at` on that code may begin at; looked for once. */
  private markFrom(at: number): number {
    if (this.mark >= at) return this.mark;
    const marks = /[`~]/g;
    marks.lastIndex = at;
    this.mark = marks.exec(this.text)?.index ?? Infinity;
    return this.mark;
  }

  /** Number of the line of a place; places come in their order. */
  lineOf(at: number): number {
    for (let newline = this.text.indexOf('\n', this.line.at); newline !== -1 && newline < at; ) {
      this.line = { number: this.line.number + 1, at: newline + 1 };
      newline = this.text.indexOf('\n', this.line.at);
    }
    return this.line.number;
  }

  read({ tool, end: nameEnd }: TagToken<Tool>): Found {
    const opening = openingTag(this.text, nameEnd);
    if ('malformed' in opening) return { kind: 'malformed', why: opening.malformed, end: opening.end };
    const { attributes, end: from } = opening;
    if (opening.isEmpty) return { kind: 'body', attributes, body: '', end: from };
    return this.byObject(tool.name, attributes, from) ?? this.byTag(tool.name, attributes, from);
  }

  /** A body that is a JSON object ends with it: its texts may hold tags. */
  private byObject(name: string, attributes: ReadonlyMap<string, string>, from: number): Found | null {
    if (this.vainSearches >= maxVainSearches) return null;
    const end = bodyObjectEnd(this.text, from);
    if (end === null) return null;
    if (end === -1) {
      this.vainSearches += 1;
      return null;
    }
    const close = this.tokenFrom(end);
    if (!close?.isClosing || close.tool.name !== name) return null;
    if (!/^\s*(```)?\s*$/.test(this.text.slice(end, Math.min(close.start, end + 100)))) return null;
    if (close.start - end > 100) return null;
    return { kind: 'body', attributes, body: this.text.slice(from, close.start), end: close.end };
  }

  private tokenFrom(at: number): TagToken<Tool> | undefined {
    let low = this.index;
    let high = this.tokens.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.tokens[middle]?.start ?? Infinity) < at) low = middle + 1;
      else high = middle;
    }
    return this.tokens[low];
  }

  private byTag(name: string, attributes: ReadonlyMap<string, string>, from: number): Found {
    const later = this.tokens.slice(this.index + 1, this.index + 1 + maxNested);
    const [next] = later;
    if (!next) return { kind: 'malformed', why: `it has no </${name}>`, end: from };
    if (next.isClosing) {
      if (next.tool.name === name)
        return { kind: 'body', attributes, body: this.text.slice(from, next.start), end: next.end };
      return { kind: 'malformed', why: `it is closed by </${next.tool.name}>, not by </${name}>`, end: next.end };
    }
    const end = closingOf(name, later);
    if (end === null)
      return { kind: 'malformed', why: `it has no </${name}> before <${next.tool.name}> begins`, end: next.start };
    return { kind: 'malformed', why: `it holds <${next.tool.name}>; tags do not stand in one another`, end };
  }
}

/** Tags in one another that are looked through for the end of the outermost. */
const maxNested = 200;

/** Where a tag with others in it ends; null: it has no closing tag of its own. */
const closingOf = (name: string, later: readonly TagToken<TagTool>[]): number | null => {
  let depth = 1;
  for (const { tool, isClosing, end } of later) {
    if (tool.name !== name) continue;
    depth += isClosing ? -1 : 1;
    if (depth === 0) return end;
  }
  return null;
};
