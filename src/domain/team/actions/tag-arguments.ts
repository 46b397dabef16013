import { isObject, type JsonObject, type Mend } from '../../model-json.js';
import { unescaped } from './entities.js';
import type { TagTool } from './tag-tokens.js';

export type TagArguments = { given: JsonObject } | { malformed: string };

const booleans = [
  'share_session',
  'share_context_window',
  'background',
  'wait',
  'include_result',
  'include_stats',
  'replace',
];
const numbers = ['timeout', 'max_iterations', 'shared_context_window_max_tokens', 'shared_cw_max_tokens'];
const lists = ['targets', 'default_tools', 'ids', 'categories'];
const objects = ['metadata', 'model_overrides'];

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // What a model wrote is no error: what cannot be read is told below.
  }
};

/** Text that stands for a value of another kind where the argument is known to be one; else as it is, for the schema to refuse. */
const valueOf = (name: string, text: string): unknown => {
  const word = text.trim().toLowerCase();
  if (booleans.includes(name)) return word === 'true' ? true : word === 'false' ? false : text;
  if (numbers.includes(name)) return word !== '' && Number.isFinite(Number(word)) ? Number(word) : text;
  if (lists.includes(name)) {
    const list = parsed(text);
    return Array.isArray(list)
      ? (list as unknown[])
      : text
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== '');
  }
  return objects.includes(name) ? (parsed(text) ?? text) : text;
};

const fence = '```';
const withoutFence = (text: string): string =>
  text.length >= 2 * fence.length && text.startsWith(fence) && text.endsWith(fence)
    ? text
        .slice(fence.length, -fence.length)
        .replace(/^[a-zA-Z]{0,10}[ \t]{0,10}(\n|(?=\{))/, '')
        .trim()
    : text;

const cdata = (text: string): string =>
  text.startsWith('<![CDATA[') && text.endsWith(']]>') ? text.slice(9, -3).trim() : text;

/** A body of elements alone, `<child>a</child><content>b</content>`; null: it is something else. */
const elementsOf = (body: string): Map<string, string> | null => {
  const found = new Map<string, string>();
  const opening = /\s*<([a-z_]{2,40})>/y;
  let at = 0;
  while (at < body.length) {
    opening.lastIndex = at;
    const match = opening.exec(body);
    const name = match?.[1];
    if (!match || name === undefined || found.has(name)) return null;
    const from = at + match[0].length;
    const close = body.indexOf(`</${name}>`, from);
    if (close === -1) return null;
    found.set(name, body.slice(from, close));
    at = close + name.length + 3;
    if (body.slice(at).trim() === '') break;
    if (found.size > 40) return null;
  }
  return found.size === 0 ? null : found;
};

/** Characters of a body that is mended; mending what is longer takes too long. */
const maxMended = 200_000;

const jsonOf = (body: string, mend: Mend): unknown => {
  const plain = parsed(body) ?? (body.includes('&') ? parsed(unescaped(body)) : undefined);
  // Only what closes is mended: of what was cut off nobody knows how it would have ended.
  return (
    plain ??
    (/[}\]]$/.test(body) && body.length <= maxMended
      ? mend(body.includes('&quot;') ? unescaped(body) : body)
      : undefined)
  );
};

const fromBody = (tool: TagTool, raw: string, mend: Mend): TagArguments => {
  const body = withoutFence(cdata(raw.trim()));
  if (body === '') return { given: {} };
  if (body.startsWith('{') || body.startsWith('&#123;')) {
    const value = jsonOf(body, mend);
    if (isObject(value)) return { given: value };
    return {
      malformed:
        'its JSON cannot be read; write one object with double quotes, every quote and line break within a text escaped',
    };
  }
  if (body.startsWith('[') && Array.isArray(jsonOf(body, mend)))
    return { malformed: 'it holds a list; write one tag with one object for each' };
  const elements = elementsOf(body);
  if (elements) {
    const values = Array.from(elements, ([name, text]) => [name, valueOf(name, unescaped(text.trim()))] as const);
    return { given: Object.fromEntries(values) };
  }
  return { given: { [tool.tagText ?? 'content']: unescaped(body) } };
};

/** The arguments of an action tag: its attributes, and in its body JSON, elements, or plain text for the one it is about. */
export const tagArguments = (
  tool: TagTool,
  attributes: ReadonlyMap<string, string>,
  body: string,
  mend: Mend,
): TagArguments => {
  const inside = fromBody(tool, body, mend);
  if ('malformed' in inside) return inside;
  const given: JsonObject = { ...inside.given };
  for (const [name, text] of attributes) {
    if (Object.hasOwn(given, name))
      return { malformed: `${name} stands in its opening tag and in its body; give it once` };
    given[name] = valueOf(name, unescaped(text));
  }
  // An empty body is an empty text where the text may be empty.
  if (body.trim() === '' && tool.tagText === 'content' && attributes.size > 0 && !Object.hasOwn(given, 'content'))
    given['content'] = '';
  return { given };
};
