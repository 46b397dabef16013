import { z } from 'zod';
import type { AnyRoute } from '../route.js';

type JsonSchema = Record<string, unknown>;
/** As MCP wants it: the schema of an object. */
export type InputSchema = JsonSchema & { type: 'object' };

const withoutDialect = ({ $schema: _dialect, ...schema }: JsonSchema): JsonSchema => schema;

/** The JSON Schema of what is given, whose outermost part is the object itself and no reference to it. */
export const inputSchemaOf = (schema: z.ZodType): InputSchema => {
  const root = withoutDialect(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema);
  const definitions = (root['$defs'] ?? {}) as Record<string, JsonSchema>;
  const name = typeof root['$ref'] === 'string' ? root['$ref'].slice('#/$defs/'.length) : null;
  if (name === null) return { ...root, type: 'object' };
  const { [name]: own = {}, ...others } = definitions;
  return { ...own, type: 'object', ...(Object.keys(others).length > 0 && { $defs: others }) };
};

/** That of a route's body, with more members beside it. */
export const bodySchemaOf = ({ body }: AnyRoute, more: Record<string, JsonSchema>): InputSchema => {
  const schema: InputSchema = body ? inputSchemaOf(body) : { type: 'object' };
  return { ...schema, properties: { ...(schema['properties'] as JsonSchema | undefined), ...more } };
};
