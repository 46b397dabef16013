import type { Change } from '../../contracts/export.js';
import type { Json } from '../../contracts/frames.js';

type Members = Record<string, Json>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');
/** The parts of a JSON pointer (RFC 6901). */
export const partsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The value at a JSON pointer; undefined: there is none. */
export const valueAt = (root: unknown, pointer: string): unknown => {
  let value: unknown = root;
  for (const part of partsOf(pointer)) {
    if (Array.isArray(value) && /^(0|[1-9]\d*)$/.test(part)) value = (value as unknown[])[Number(part)];
    else if (isMembers(value) && Object.hasOwn(value, part)) value = value[part];
    else return undefined;
  }
  return value;
};

/** One place at which two values are not the same: `from` is left out where nothing was, `to` where nothing is. */
export interface Difference {
  at: string;
  from?: Json;
  to?: Json;
}

/** Every place at which two JSON values differ, in the order of the first. Equal values give an empty list. */
export const differencesBetween = (from: Json, to: Json, at = ''): Difference[] => {
  if (from === to) return [];
  if (Array.isArray(from) && Array.isArray(to)) {
    const both = Math.min(from.length, to.length);
    return [
      ...from.slice(0, both).flatMap((item, index) => differencesBetween(item, to[index] as Json, `${at}/${index}`)),
      ...from.slice(both).map((item, index): Difference => ({ at: `${at}/${both + index}`, from: item })),
      ...to.slice(both).map((item, index): Difference => ({ at: `${at}/${both + index}`, to: item })),
    ];
  }
  if (isMembers(from) && isMembers(to)) {
    const gone = Object.entries(from).flatMap(([name, value]) => {
      const place = `${at}/${escaped(name)}`;
      const now = Object.hasOwn(to, name) ? to[name] : undefined;
      return now === undefined ? [{ at: place, from: value }] : differencesBetween(value, now, place);
    });
    const fresh = Object.entries(to)
      .filter(([name, value]) => value !== undefined && !(Object.hasOwn(from, name) && from[name] !== undefined))
      .map(([name, value]): Difference => ({ at: `${at}/${escaped(name)}`, to: value }));
    return [...gone, ...fresh];
  }
  return [{ at, from, to }];
};

/** Whether a difference is a member that only the second value has: a version that says more says nothing else. */
export const isFreshMember = (first: Json, { at, from }: Difference): boolean =>
  from === undefined && isMembers(valueAt(first, at.slice(0, at.lastIndexOf('/'))));

/** The differences as changes that make the second value out of the first. Entries at a list's end go from the last on. */
export const changesBetween = (from: Json, to: Json): Change[] => {
  const differences = differencesBetween(from, to);
  const removals = differences.filter((difference) => difference.to === undefined).toReversed();
  return [
    ...differences.flatMap(({ at, to: value }) => (value === undefined ? [] : [{ at, to: value }])),
    ...removals.map(({ at }) => ({ at })),
  ];
};

const changed = (value: Json | undefined, parts: readonly string[], to: Json | undefined): Json | undefined => {
  const [part, ...rest] = parts;
  if (part === undefined) return to;
  if (Array.isArray(value)) {
    const items = [...value];
    const item = changed(items[Number(part)], rest, to);
    if (item === undefined) items.splice(Number(part), 1);
    else items[Number(part)] = item;
    return items;
  }
  const members: Members = isMembers(value) ? value : {};
  const member = changed(Object.hasOwn(members, part) ? members[part] : undefined, rest, to);
  if (member === undefined) return Object.fromEntries(Object.entries(members).filter(([name]) => name !== part));
  // A computed name is a member like any other, "__proto__" too.
  return { ...members, [part]: member };
};

/** A value with changes made to it, in order; the value itself stays as it is. */
export const withChanges = (value: Json, changes: readonly Change[]): Json =>
  changes.reduce<Json>((before, { at, to }) => changed(before, partsOf(at), to) ?? null, value);
