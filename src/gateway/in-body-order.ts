import type { Fault } from '../faults.js';

type Place = readonly number[];

/** Where a reader of the body comes to a path; what is missing stands after all that is there. */
const placeOf = (body: unknown, path: string): Place => {
  let value = body;
  return (path.match(/[^.[\]]+/g) ?? []).map((name) => {
    if (typeof value !== 'object' || value === null) return 0;
    const names = Object.keys(value);
    const index = Array.isArray(value) ? Number(name) : names.indexOf(name);
    value = (value as Record<string, unknown>)[name];
    return index < 0 ? names.length : index;
  });
};

const compare = (one: Place, other: Place): number => {
  const differing = one.findIndex((index, depth) => index !== other[depth]);
  if (differing < 0) return one.length - other.length;
  return (one[differing] ?? 0) - (other[differing] ?? -1);
};

/** Faults of a body in the order in which its reader comes to them, each once. */
export const inBodyOrder = (body: unknown, faults: readonly Fault[]): Fault[] => {
  const once = new Map(faults.map((fault) => [`${fault.path}\n${fault.message}`, fault]));
  return [...once.values()]
    .map((fault) => ({ fault, place: placeOf(body, fault.path) }))
    .toSorted((one, other) => compare(one.place, other.place))
    .map(({ fault }) => fault);
};
