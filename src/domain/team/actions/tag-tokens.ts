import { type AgentTool, toolOfTag } from './tools.js';

/** A tool as far as its tags go. */
export type TagTool = Pick<AgentTool, 'tagText'> & { name: string };

/** An opening or closing tag of a tool, as far as its name. */
export interface TagToken<Tool extends TagTool = AgentTool> {
  tool: Tool;
  isClosing: boolean;
  /** Its "<". */
  start: number;
  /** After its name; of a closing tag after its ">". */
  end: number;
}

// A name of as many letters as one may have, so that no match is retried over a long one.
const tagPattern = /<(?:\/[ \t]{0,3}([A-Za-z][\w-]{2,63})\s{0,20}>|([A-Za-z][\w-]{2,63})(?=[\s/>]))/g;

/** Every tag of a tool in a text, in order, whatever stands around it. One pass. */
export const tagTokens = (text: string): TagToken[] => tagTokensOf(text, toolOfTag);

/** The same of tools by `toolOf`. */
export const tagTokensOf = <Tool extends TagTool>(
  text: string,
  toolOf: (name: string) => Tool | undefined,
): TagToken<Tool>[] => {
  const tokens: TagToken<Tool>[] = [];
  for (const match of text.matchAll(tagPattern)) {
    const [whole, closing, opening] = match;
    const tool = toolOf(closing ?? opening ?? '');
    if (tool)
      tokens.push({ tool, isClosing: closing !== undefined, start: match.index, end: match.index + whole.length });
  }
  return tokens;
};

export type OpeningTag =
  | { attributes: Map<string, string>; isEmpty: boolean; end: number }
  /** `end`: where reading goes on. */
  | { malformed: string; end: number };

const blank = /\s*/y;
const attributeName = /[^\s=/><"'`]{1,100}/y;
const bareValue = /[^\s<>"'`]{1,10000}/y;

const matchAt = (pattern: RegExp, text: string, at: number): string => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
};

/** The longest that an opening tag may be: an attribute whose quote never closes must not swallow the rest of a text. */
const maxOpening = 20_000;

/** The attributes of an opening tag from the end of its name, with entities as they stand. */
export const openingTag = (whole: string, nameEnd: number): OpeningTag => {
  const text = whole.length > nameEnd + maxOpening ? whole.slice(0, nameEnd + maxOpening) : whole;
  const attributes = new Map<string, string>();
  let at = nameEnd;
  const malformed = (why: string): OpeningTag => ({ malformed: why, end: nameEnd });
  for (;;) {
    at += matchAt(blank, text, at).length;
    const next = text[at];
    if (next === '>') return { attributes, isEmpty: false, end: at + 1 };
    if (next === '/' && text[at + 1] === '>') return { attributes, isEmpty: true, end: at + 2 };
    if (next === undefined || next === '<') return malformed('its opening tag has no ">"');
    const name = matchAt(attributeName, text, at);
    if (name === '') return malformed(`its opening tag has a stray ${JSON.stringify(next)}`);
    at += name.length;
    if (attributes.has(name)) return malformed(`its attribute ${name} stands there twice`);
    const equals = at + matchAt(blank, text, at).length;
    if (text[equals] !== '=') return malformed(`its attribute ${name} has no value; write ${name}="..."`);
    at = equals + 1 + matchAt(blank, text, equals + 1).length;
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const close = text.indexOf(quote, at + 1);
      if (close === -1) return malformed(`the quote of its attribute ${name} does not close`);
      attributes.set(name, text.slice(at + 1, close));
      at = close + 1;
    } else {
      // A bare value ends before "/>".
      const value = matchAt(bareValue, text, at).replace(/\/$/, '');
      if (value === '') return malformed(`its attribute ${name} has no value; write ${name}="..."`);
      attributes.set(name, value);
      at += value.length;
    }
  }
};
