import type { OpenExport } from '../../contracts/export.js';
import type { Json } from '../../contracts/frames.js';
import { isMembers } from './changes.js';
import { packed, unpacked } from './checkpoints.js';
import { ParleyError } from '../errors.js';

/** What becomes of one text. */
export type Texts = (text: string) => string;
type ByName = (name: string) => boolean;

/** Every text of a value, names of members too, put through `texts`. @throws ParleyError where two names become one */
export const mapTexts = (value: Json, texts: Texts): Json => {
  if (typeof value === 'string') return texts(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, texts));
  if (!isMembers(value)) return value;
  const members = Object.entries(value).map(([name, inner]): [string, Json] => [texts(name), mapTexts(inner, texts)]);
  const names = members.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined)
    throw new ParleyError(
      'invalid_request',
      `The rules give two members of one object the name "${twice.slice(0, 100)}"; let each rule replace with a text of its own.`,
    );
  return Object.fromEntries(members);
};

/** The texts below members whose name `isMeant` knows, put through `texts`; the names stay. */
export const mapNamed = (value: Json, isMeant: ByName, texts: Texts): Json => {
  if (Array.isArray(value)) return value.map((item) => mapNamed(item, isMeant, texts));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]): [string, Json] => [
      name,
      isMeant(name) ? mapBelow(inner, texts) : mapNamed(inner, isMeant, texts),
    ]),
  );
};

/** Every text of a value, but no name, put through `texts`. */
export const mapBelow = (value: Json, texts: Texts): Json => {
  if (typeof value === 'string') return texts(value);
  if (Array.isArray(value)) return value.map((item) => mapBelow(item, texts));
  return mapNamed(value, () => true, texts);
};

export const textsOf = (value: Json): string[] => {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isMembers(value) ? Object.values(value).flatMap(textsOf) : [];
};

/** The texts below members whose name `isMeant` knows, at any depth. */
export const textsNamed = (value: Json, isMeant: ByName): string[] => {
  if (Array.isArray(value)) return value.flatMap((item) => textsNamed(item, isMeant));
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    isMeant(name) ? textsOf(inner) : textsNamed(inner, isMeant),
  );
};

/** What an event says apart from how Temporal works: its payloads, and the messages of failures. */
const inEvents = (value: Json, change: (value: Json) => Json, texts: Texts): Json => {
  if (Array.isArray(value)) return value.map((item) => inEvents(item, change, texts));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]): [string, Json] => {
      if (name === '$json') return [name, change(inner)];
      if (name === 'message' && typeof inner === 'string') return [name, texts(inner)];
      return [name, name === '$at' ? inner : inEvents(inner, change, texts)];
    }),
  );
};

const unchanged: Texts = (text) => text;

/** A document with everything that was said in it changed, at every place where it stands. What the document is told by stays. */
export const withValues = (
  document: OpenExport,
  change: (value: Json) => Json,
  texts: Texts = unchanged,
): OpenExport => ({
  ...document,
  request: change(document.request),
  setup: change(document.setup),
  outcome: document.outcome && (change(document.outcome) as Record<string, Json>),
  story: document.story.map((entry) => ({
    ...entry,
    summary: entry.summary && texts(entry.summary),
    message: entry.message && texts(entry.message),
    values: entry.values.map(change),
  })),
  checkpoints:
    document.checkpoints &&
    packed(
      unpacked(document.checkpoints).map((passed) => ({
        ...passed,
        error: passed.error && texts(passed.error),
        state: change(passed.state),
      })),
    ),
  runs: document.runs.map((run) => ({
    ...run,
    history: { events: inEvents(run.history.events as Json, change, texts) as typeof run.history.events },
  })),
});

export const withTexts = (document: OpenExport, texts: Texts): OpenExport =>
  withValues(document, (value) => mapTexts(value, texts), texts);

/** Everything that was said in a document, each value as often as it stands there. */
export const valuesOf = (document: OpenExport): Json[] => {
  const values: Json[] = [];
  withValues(document, (value) => {
    values.push(value);
    return value;
  });
  return values;
};

/** From so many characters on, what is taken out at one place is looked for everywhere: a shorter text means too much else. */
export const minCharsElsewhere = 6;

/** A text as it stands within others: alone, and as JSON within JSON writes it. */
const formsOf = (text: string): string[] => {
  const once = JSON.stringify(text).slice(1, -1);
  return [...new Set([text, once, JSON.stringify(once).slice(1, -1)])];
};

/** Puts `replace` for the given texts wherever they stand, the longest first; tells `onHit` of each text that had one. */
export const replacing = (given: readonly string[], replace: string, onHit: () => void): Texts => {
  const wanted = [...new Set(given.filter((text) => text.length >= minCharsElsewhere && text !== replace))]
    .flatMap(formsOf)
    .toSorted((one, two) => two.length - one.length);
  return (text) =>
    wanted.reduce((before, secret) => {
      if (!before.includes(secret)) return before;
      onHit();
      return before.replaceAll(secret, () => replace);
    }, text);
};
