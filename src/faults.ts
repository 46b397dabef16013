import { z } from 'zod';

/** One fault of a request: where, and what would be right there. */
export interface Fault {
  path: string;
  message: string;
}

type Json = Record<string, unknown>;

/** `lanes[0].tier`, as the problem documents of spec 10 write paths. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}${text ? '.' : ''}${String(part)}`),
    '',
  );

const orList = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** What was given, short enough for a message: values as JSON, structures by kind. */
export const gotText = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? `a ${typeof value}`;
  return text.length > 80 ? `${text.slice(0, 77)}…"` : text;
};

/** zod writes the widest safe whole number where a schema has no bound; a reader needs none then. */
const bound = (value: unknown): number | null =>
  typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : null;

const rangeText = (low: number | null, high: number | null): string => {
  if (low !== null && high !== null) return ` from ${low} to ${high}`;
  if (low !== null) return ` of at least ${low}`;
  return high === null ? '' : ` of at most ${high}`;
};

const describe = (schema: Json): string => {
  const choices = (schema['enum'] as unknown[] | undefined) ?? ('const' in schema ? [schema['const']] : null);
  if (choices) return orList(choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice))));
  const options = (schema['anyOf'] ?? schema['oneOf']) as Json[] | undefined;
  if (options) return orList([...new Set(options.map(describe))]);
  const types = schema['type'];
  if (Array.isArray(types)) return orList(types.map((type) => describe({ type })));
  switch (schema['type']) {
    case 'integer':
    case 'number': {
      const above = bound(schema['exclusiveMinimum']);
      const range = rangeText(bound(schema['minimum']), bound(schema['maximum']));
      return `a ${schema['type'] === 'integer' ? 'whole ' : ''}number${above === null ? '' : ` above ${above}`}${range}`;
    }
    case 'string':
      return 'a text';
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'object':
      return 'an object';
    case 'null':
      return 'null';
    default:
      return 'a JSON value';
  }
};

/** JSON Schema of a node with its named parts put in place of references, which is all that `describe` can read. */
export const jsonSchemaOf = (schema: z.core.$ZodType): Json => {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Json;
  const definitions = (root['$defs'] ?? {}) as Record<string, Json>;
  const resolve = (node: Json, depth: number): Json => {
    const reference = node['$ref'];
    const target = typeof reference === 'string' ? definitions[reference.slice('#/$defs/'.length)] : undefined;
    if (target) return depth > 8 ? {} : resolve(target, depth + 1);
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key]) => key !== '$defs')
        .map(([key, value]) => [key, depth > 8 ? value : inside(value, depth + 1)]),
    );
  };
  const inside = (value: unknown, depth: number): unknown =>
    Array.isArray(value)
      ? value.map((item) => inside(item, depth))
      : typeof value === 'object' && value !== null
        ? resolve(value as Json, depth)
        : value;
  return resolve(root, 0);
};

type RawIssue = z.core.$ZodRawIssue;

const wanted = (issue: RawIssue): string => {
  const schema = issue.inst as z.core.$ZodType | undefined;
  return schema?._zod ? describe(jsonSchemaOf(schema)) : String((issue as { expected?: unknown }).expected);
};

const discriminatorText = (issue: RawIssue): string => {
  const { discriminator, options } = issue as { discriminator?: string; options?: unknown[] };
  const field = discriminator ?? 'kind';
  const given = (issue.input as Record<string, unknown> | undefined)?.[field];
  const choices = (options ?? []).map(String);
  return given === undefined
    ? `is missing; it must be one of ${choices.join(', ')}`
    : `must be one of ${choices.join(', ')}; got ${gotText(given)}`;
};

const sizeText = (issue: RawIssue): string => {
  const { origin, minimum, maximum, inclusive } = issue as {
    origin?: string;
    minimum?: number | bigint;
    maximum?: number | bigint;
    inclusive?: boolean;
  };
  const unit = origin === 'string' ? ' characters' : origin === 'array' || origin === 'set' ? ' entries' : '';
  const limit = String(minimum ?? maximum);
  const comparison = minimum === undefined ? (inclusive ? 'at most' : 'below') : inclusive ? 'at least' : 'above';
  const size = typeof issue.input === 'string' || Array.isArray(issue.input) ? issue.input.length : null;
  const got = unit ? `${size ?? gotText(issue.input)}` : gotText(issue.input);
  const noun = limit === '1' ? unit.replace(/ies$/, 'y').replace(/s$/, '') : unit;
  return `must ${unit ? 'have' : 'be'} ${comparison} ${limit}${noun}; got ${got}`;
};

/** zod's words where a schema has none of its own: always what would be right, then what was given. */
export const wordsFor = (issue: RawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_value':
      return issue.input === undefined
        ? `is missing; it must be ${wanted(issue)}`
        : `must be ${wanted(issue)}; got ${gotText(issue.input)}`;
    case 'invalid_union':
      if ('discriminator' in issue && issue.discriminator !== undefined) return discriminatorText(issue);
      return issue.input === undefined
        ? `is missing; it must be ${wanted(issue)}`
        : `must be ${wanted(issue)}; got ${gotText(issue.input)}`;
    case 'unrecognized_keys': {
      // `faultsOf` puts the field's name before this.
      const shape = (issue.inst as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape;
      const fields = Object.keys(shape ?? {});
      return fields.length > 0 ? `it takes ${fields.join(', ')}` : 'it takes no fields';
    }
    case 'too_small':
    case 'too_big':
      return sizeText(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${String((issue as { divisor?: unknown }).divisor)}; got ${gotText(issue.input)}`;
    case 'invalid_format': {
      const { format, pattern } = issue as { format?: unknown; pattern?: string };
      if (format === 'regex') return `must match ${pattern}; got ${gotText(issue.input)}`;
      const name =
        format === 'url' ? 'a URL' : format === 'datetime' ? 'an ISO 8601 time in UTC' : `a valid ${String(format)}`;
      return `must be ${name}; got ${gotText(issue.input)}`;
    }
    case 'invalid_key':
      return 'is not allowed as a name here';
    default:
      return 'is not valid here';
  }
};

interface FaultAt extends Fault {
  at: readonly PropertyKey[];
  /** What it comes from: of a union, within the one option that the value was meant for. */
  issue: z.core.$ZodIssue;
}

/** Whether an option of a union took the value for what it is, and found fault with what is in it alone. */
const isMeant = (issues: readonly z.core.$ZodIssue[]): boolean =>
  issues.length > 0 &&
  !issues.some(
    ({ path, code }) =>
      path.length === 0 && (code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union'),
  );

const within = ({ path }: z.core.$ZodIssue, inner: z.core.$ZodIssue): z.core.$ZodIssue => ({
  ...inner,
  path: [...path, ...inner.path],
});

/** A zod issue as faults: one for each unknown field, one for each bad key of a record, each of the option meant, else one. */
export const faultsOf = (issue: z.core.$ZodIssue): FaultAt[] => {
  const meant = issue.code === 'invalid_union' ? issue.errors.filter(isMeant) : [];
  if (meant.length === 1) return meant.flat().flatMap((inner) => faultsOf(within(issue, inner)));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const at = [...issue.path, key];
      return { at, path: pathText(at), message: `unknown field "${key}"; ${issue.message}`, issue };
    });
  }
  if (issue.code === 'invalid_key') {
    const why = issue.issues.map((inner) => inner.message).join('; ');
    return [{ at: issue.path, path: pathText(issue.path), message: `as a name, ${why || issue.message}`, issue }];
  }
  return [{ at: issue.path, path: pathText(issue.path), message: issue.message, issue }];
};
