import { z } from 'zod';
import { digestSchema } from './feedback.js';
import { kindSchema, workIdSchema } from './work.js';

/** What happened, as `noun.verb`, such as debate.decided, approval.given, identity.mismatch. */
export const auditTypeSchema = z
  .string()
  .regex(
    /^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/,
    'must be two lower-case words with a point between, such as debate.decided',
  );

/** One thing to record. `key` makes it happen once however often it is tried again. */
export const auditEntrySchema = z
  .strictObject({
    key: z.string().min(1).max(256),
    work_id: workIdSchema.nullable(),
    kind: kindSchema.nullable(),
    tenant: z.string(),
    trace_id: z.string().nullable(),
    type: auditTypeSchema,
    data: z.record(z.string(), z.json()).meta({ description: 'What happened; no secrets.' }),
  })
  .meta({ id: 'AuditEntry' });
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** A link of the chain: `hash` is of all the rest but itself and the signature, `previous` is the hash of the link before. */
export const auditRecordSchema = auditEntrySchema
  .extend({
    seq: z.number().int().min(1),
    at: z.iso.datetime(),
    chain: z.string(),
    previous: digestSchema.meta({ description: 'Hash of the record before; 64 zeros for the first.' }),
    hash: digestSchema,
    signature: z.string().meta({ description: 'Ed25519 over the hash, base64.' }),
  })
  .meta({ id: 'AuditRecord' });
export type AuditRecord = z.infer<typeof auditRecordSchema>;

/** Where an entry stands in the chain. */
export const auditReceiptSchema = z
  .strictObject({ chain: z.string(), seq: z.number().int().min(1), hash: digestSchema })
  .meta({ id: 'AuditReceipt' });
export type AuditReceipt = z.infer<typeof auditReceiptSchema>;
