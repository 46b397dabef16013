import type { Json } from '../contracts/frames.js';

type JsonObject = { [name: string]: Json };
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Only what is a member of its own: `constructor` and `__proto__` are names like any other here. */
const memberOf = (value: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Members that name a thing in a list, the first that all of them have. */
const identities = ['lane_id', 'task_id', 'agent_id', 'name', 'persona_id', 'work_id'];

/** The members of a list by what names them, in its order; null: they are not all named so, each by a name of its own. */
const byName = (list: readonly Json[], identity: string): Map<string, JsonObject> | null => {
  const named = new Map<string, JsonObject>();
  for (const item of list) {
    const name = isObject(item) ? memberOf(item, identity) : undefined;
    if (!isObject(item) || typeof name !== 'string' || named.has(name)) return null;
    named.set(name, item);
  }
  return named;
};

type Named = [before: Map<string, JsonObject>, after: Map<string, JsonObject>];

/** Both lists by the identity that they share, or null: they are no lists of named things. */
const bothByName = (before: Json | undefined, after: Json | undefined): Named | null => {
  if (!Array.isArray(before) || !Array.isArray(after) || before.length + after.length === 0) return null;
  for (const identity of identities) {
    const named = [byName(before, identity), byName(after, identity)];
    if (named[0] && named[1]) return [named[0], named[1]];
  }
  return null;
};

const changedList = ([before, changes]: Named): Json[] => {
  const kept = [...before].map(([name, item]) => {
    const change = changes.get(name);
    return change === undefined ? item : changedRequest(item, change);
  });
  const added = [...changes].filter(([name]) => !before.has(name)).map(([, item]) => changedRequest({}, item));
  return [...kept, ...added];
};

/**
 * A request with a change applied to it, as a JSON Merge Patch (RFC 7396): members of objects are merged, `null` removes one,
 * and everything else replaces what was there (spec 08 "Fork with a question"). One thing is added: where both hold a list of
 * things that have a name of their own (lane_id, task_id, agent_id, name, persona_id, work_id), and neither list is empty, things of
 * the same name are merged, in the old order, and new ones follow; any other list replaces the old one. What was given is not
 * changed.
 */
export const changedRequest = (request: Json, change: Json): Json => {
  if (!isObject(change)) return change;
  const before = isObject(request) ? request : {};
  const names = new Set([...Object.keys(before), ...Object.keys(change)]);
  const members = [...names].flatMap((name): [string, Json][] => {
    const old = memberOf(before, name);
    const wanted = memberOf(change, name);
    if (wanted === undefined) return old === undefined ? [] : [[name, old]];
    if (wanted === null) return [];
    const isList = Array.isArray(old) && Array.isArray(wanted) && old.length > 0 && wanted.length > 0;
    const named = isList ? bothByName(old, wanted) : null;
    return [[name, named ? changedList(named) : changedRequest(old ?? null, wanted)]];
  });
  return Object.fromEntries(members);
};

/** One place at which two documents differ; undefined: there is nothing at that place. */
export interface Difference {
  /** From the document's root: `policy.threshold`, `tasks[2]`, `lanes[b].weight`; '' is the root itself. */
  path: string;
  a: Json | undefined;
  b: Json | undefined;
}

export interface Differences {
  /** In the order of `a`, then what only `b` has; at most `mostDifferences`. */
  differences: Difference[];
  /** How many there are beyond these. */
  more: number;
}

/** Differences that are listed; the others are counted. */
export const mostDifferences = 1_000;

/** A name that could be read as something else is quoted. */
const member = (name: string): string => (/^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);
const entry = (name: string): string => (/^[\w#.:-]+$/.test(name) ? `[${name}]` : `[${JSON.stringify(name)}]`);

interface Pair {
  step: string;
  a: Json | undefined;
  b: Json | undefined;
}

const pairs = (a: ReadonlyMap<string, Json>, b: ReadonlyMap<string, Json>, step: (name: string) => string): Pair[] =>
  [...new Set([...a.keys(), ...b.keys()])].map((name) => ({ step: step(name), a: a.get(name), b: b.get(name) }));

/** What two values hold, side by side; null: at least one holds nothing, or they are of different kinds. */
const inside = (a: Json | undefined, b: Json | undefined): Pair[] | null => {
  if (isObject(a) && isObject(b)) return pairs(new Map(Object.entries(a)), new Map(Object.entries(b)), member);
  if (!Array.isArray(a) || !Array.isArray(b)) return null;
  const named = bothByName(a, b);
  if (named) return pairs(...named, entry);
  const length = Math.max(a.length, b.length);
  return Array.from({ length }, (_, index) => ({ step: `[${index}]`, a: a[index], b: b[index] }));
};

/**
 * Where two documents differ, leaf by leaf; a part that only one of them has is one difference. Things with a name of their own
 * are compared by it, as `changedRequest` merges them; their order is not compared.
 */
export const differencesOf = (a: Json, b: Json): Differences => {
  const found: Differences = { differences: [], more: 0 };
  const compare = (path: string, left: Json | undefined, right: Json | undefined): void => {
    const parts = inside(left, right);
    if (parts) {
      for (const part of parts) compare(path + part.step, part.a, part.b);
      return;
    }
    if (left === right) return;
    if (found.differences.length === mostDifferences) found.more += 1;
    else found.differences.push({ path: path.replace(/^\./, ''), a: left, b: right });
  };
  compare('', a, b);
  return found;
};
