import { z } from 'zod';

const types = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'] as const;
const typeSchema = z.enum(types);
const count = z.number().int().min(0).optional();

/** Keywords of JSON Schema whose own shape is wrong more often than not; what it does not name may be anything. */
const shapeSchema: z.ZodType = z.lazy(() => {
  const part = z.union([z.boolean(), shapeSchema]);
  const parts = z.array(part).min(1).optional();
  const named = z.record(z.string(), part).optional();
  return z.looseObject({
    type: z.union([typeSchema, z.array(typeSchema).min(1)]).optional(),
    enum: z.array(z.json()).min(1).optional(),
    properties: named,
    required: z.array(z.string()).optional(),
    additionalProperties: part.optional(),
    items: z.union([part, z.array(part)]).optional(),
    prefixItems: parts,
    allOf: parts,
    anyOf: parts,
    oneOf: parts,
    not: part.optional(),
    $defs: named,
    definitions: named,
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    pattern: z.string().optional(),
  });
});

/** Why answers cannot be checked by a schema; null: they can. */
const faultOf = (schema: Record<string, unknown>): string | null => {
  const shape = shapeSchema.safeParse(schema);
  if (!shape.success) {
    const at = shape.error.issues.map(({ path }) => `/${path.map(String).join('/')}`);
    return `is no valid JSON Schema, at ${[...new Set(at)].slice(0, 20).join(', ')}`;
  }
  try {
    z.fromJSONSchema(schema);
    return null;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `is no JSON Schema that answers can be checked by: ${why}`;
  }
};

/** A JSON Schema, checked when it is given and not only when the first answer is there. */
export const jsonSchemaSchema = z.record(z.string(), z.json()).superRefine((schema, context) => {
  const message = faultOf(schema);
  if (message !== null) context.addIssue({ code: 'custom', message });
});
