import { z } from 'zod';

/** viewer reads; operator also starts, cancels and steers; approver also answers feedback; admin does all (spec 08 "Access"). */
export const roles = ['viewer', 'operator', 'approver', 'admin'] as const;
export const roleSchema = z.enum(roles);
export type Role = z.infer<typeof roleSchema>;

/** `*`: every tenant. */
export const keyTenantSchema = z
  .string()
  .regex(
    /^(\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63})$/,
    'must be "*" for every tenant, or the name of one: 1 to 64 letters, digits, ".", "_" or "-"',
  );

export const keyNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_", "@" or "-"');

const keyTextSchema = z.string().regex(/^\S{16,}$/, 'must be at least 16 characters without spaces');

/** An API key as a list of keys holds it: its sha256, or, where only the owner reads the list, the key itself. */
export const keyEntrySchema = z
  .strictObject({
    name: keyNameSchema,
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
      .optional(),
    key: keyTextSchema.optional(),
    tenant: keyTenantSchema.default('*'),
    role: roleSchema,
    added_at: z.iso.datetime().optional(),
  })
  .refine(({ sha256, key }) => (sha256 === undefined) !== (key === undefined), 'must have either sha256 or key');
export type KeyEntry = z.infer<typeof keyEntrySchema>;

/** The file that `parley keys` keeps. */
export const keyFileSchema = z.strictObject({ keys: z.array(keyEntrySchema) });
export type KeyFile = z.infer<typeof keyFileSchema>;

/** Who makes a request. Without keys that is `local`, who may do everything and is not authenticated. */
export interface Caller {
  name: string;
  /** The tenant that the caller is bound to; `*`: none. */
  tenant: string;
  role: Role;
  authenticated: boolean;
}
