import { z } from 'zod';
import { type Fault, faultsOf, gotText, jsonSchemaOf, pathText, wordsFor } from './faults.js';

type Path = readonly PropertyKey[];
type Parsed<T> = { ok: true; value: T } | { ok: false; faults: Fault[] };

const isUnder = (path: Path, above: Path): boolean =>
  above.length <= path.length && above.every((part, index) => part === path[index]);

/** A value that fits most schemas, to stand in for a faulty one; its own faults are never reported. */
const sampleOf = (schema: Record<string, unknown>): unknown => {
  const options = (schema['anyOf'] ?? schema['oneOf']) as Record<string, unknown>[] | undefined;
  if (options?.[0]) return sampleOf(options[0]);
  if ('default' in schema) return structuredClone(schema['default']);
  if ('const' in schema) return schema['const'];
  const choices = schema['enum'] as unknown[] | undefined;
  if (choices) return choices[0];
  const low = Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? 0);
  const { type } = schema;
  switch (Array.isArray(type) ? (type as unknown[])[0] : type) {
    case 'integer':
      return low + ('exclusiveMinimum' in schema ? 1 : 0);
    case 'number':
      return 'exclusiveMinimum' in schema ? low + 1 : low;
    case 'boolean':
      return false;
    case 'array':
      return Number(schema['minItems'] ?? 0) > 0 ? [sampleOf((schema['items'] ?? {}) as Record<string, unknown>)] : [];
    case 'object': {
      const properties = (schema['properties'] ?? {}) as Record<string, Record<string, unknown>>;
      const required = (schema['required'] ?? []) as string[];
      return Object.fromEntries(required.map((key) => [key, sampleOf(properties[key] ?? {})]));
    }
    default:
      return `stand-in-${Math.random().toString(36).slice(2)}`;
  }
};

interface Attempt<T> {
  result: z.ZodSafeParseResult<T>;
  /** The schema that refused the value at a path, for stand-ins. */
  refusedBy: Map<string, z.core.$ZodType>;
}

const attempt = <S extends z.ZodType>(schema: S, input: unknown): Attempt<z.output<S>> => {
  const refusedBy = new Map<string, z.core.$ZodType>();
  const result = schema.safeParse(input, {
    error: (issue) => {
      const node = issue.inst as z.core.$ZodType | undefined;
      // Within a union's options the path is not known yet and the option's fault is not the union's.
      if (issue.path && node?._zod?.parse) refusedBy.set(pathText(issue.path), node);
      return wordsFor(issue);
    },
  });
  return { result, refusedBy };
};

/** `input` with the value at `path` replaced, or removed for `undefined`; untouched where the path leads nowhere. */
const replaced = (input: unknown, path: Path, value: unknown): unknown => {
  const [head, ...rest] = path;
  if (head === undefined) return value;
  if (Array.isArray(input)) {
    const copy: unknown[] = [...(input as unknown[])];
    copy[Number(head)] = replaced(copy[Number(head)], rest, value);
    return copy;
  }
  if (typeof input !== 'object' || input === null) return input;
  const copy: Record<PropertyKey, unknown> = { ...input };
  if (rest.length === 0 && value === undefined) delete copy[head];
  else copy[head] = replaced(copy[head], rest, value);
  return copy;
};

/**
 * Parses a part of a request and reports every fault, contradictions between parts included (spec 00 "lists every fault").
 * zod looks for contradictions only in what has the right shape, so after a fault of shape the faulty values are
 * replaced by stand-ins and the rest is looked at again; what a stand-in itself causes is left out.
 */
export const parseWhole = <S extends z.ZodType>(schema: S, input: unknown): Parsed<z.output<S>> => {
  const option = optionFor(schema, input);
  if (option) return parseWhole(option, input) as Parsed<z.output<S>>;
  const first = attempt(schema, input);
  if (first.result.success) return { ok: true, value: first.result.data };

  const faults: Fault[] = [];
  const repaired: Path[] = [];
  let value = input;
  let current = first;
  for (let round = 0; round < 4 && !current.result.success; round += 1) {
    let changed = false;
    for (const issue of current.result.error.issues) {
      // Those of one issue are known or not by what was repaired before it.
      const found = faultsOf(issue).map((fault) => {
        return { ...fault, known: repaired.some((above) => isUnder(fault.at, above)) };
      });
      for (const { at, path, message, known, issue: from } of found) {
        const isEcho =
          issue.code === 'custom' && repaired.some((inner) => inner.length === at.length + 1 && isUnder(inner, at));
        if (!known && !isEcho) faults.push({ path, message: withGiven(message, from, at, input) });
        const standIn = repairOf(issue, at, known, current.refusedBy);
        if (!standIn) continue;
        if (!known) repaired.push(standIn.path);
        value = replaced(value, standIn.path, standIn.value);
        changed = true;
      }
    }
    if (!changed) break;
    current = attempt(schema, value);
  }
  return { ok: false, faults: unique(faults) };
};

/** Of a choice between one object and a list of them, what the input is meant for; null: it is no such choice. */
const optionFor = (schema: z.ZodType, input: unknown): z.ZodType | null => {
  if (!(schema instanceof z.ZodUnion) || typeof input !== 'object' || input === null) return null;
  const meant = (schema.options as z.ZodType[]).filter(
    (option) => option instanceof z.ZodArray === Array.isArray(input),
  );
  return schema.options.length === 2 && meant.length === 1 ? (meant[0] ?? null) : null;
};

/** A schema's own words end with what was given, as the generic ones do. */
const withGiven = (message: string, issue: z.core.$ZodIssue, at: Path, input: unknown): string => {
  if (issue.code === 'custom' || issue.code === 'unrecognized_keys' || /\bgot |is missing/.test(message))
    return message;
  const given = at.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    input,
  );
  return typeof given === 'object' || given === undefined ? message : `${message}; got ${gotText(given)}`;
};

/** How to go on past a fault: none for contradictions and sizes, which do not stop zod. */
const repairOf = (
  issue: z.core.$ZodIssue,
  at: Path,
  known: boolean,
  refusedBy: Map<string, z.core.$ZodType>,
): { path: Path; value: unknown } | null => {
  if (issue.code === 'unrecognized_keys') return { path: at, value: undefined };
  const node = refusedBy.get(pathText(issue.path));
  if (issue.code === 'invalid_union' && 'discriminator' in issue && issue.discriminator !== undefined) {
    return node ? { path: issue.path.slice(0, -1), value: sampleOf(jsonSchemaOf(node)) } : null;
  }
  if (issue.code !== 'invalid_type' && issue.code !== 'invalid_value' && issue.code !== 'invalid_union') return null;
  // First without the value, so that the field's own default stands in; only a required field gets a sample.
  const isMissing = known || issue.message.startsWith('is missing');
  return { path: issue.path, value: isMissing ? sampleFor(issue, node) : undefined };
};

/** A field with words of its own does not say which schema it is; a choice names what it takes all the same. */
const sampleFor = (issue: z.core.$ZodIssue, node: z.core.$ZodType | undefined): unknown =>
  node ? sampleOf(jsonSchemaOf(node)) : issue.code === 'invalid_value' ? issue.values[0] : undefined;

const unique = (faults: Fault[]): Fault[] => {
  const seen = new Set<string>();
  return faults.filter(({ path, message }) => {
    const key = `${path}\n${message}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
};
