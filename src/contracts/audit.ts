import { z } from 'zod';
import { digestSchema } from './feedback.js';
import { kindSchema, tenantSchema, workIdSchema } from './work.js';

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

export const chainIdSchema = z
  .string()
  .regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits')
  .meta({ description: 'Id of a chain: the beginning of the sha256 of its public key.' });

/** A link of the chain: `hash` is of all the rest but itself and the signature, `previous` is the hash of the link before. */
export const auditRecordSchema = auditEntrySchema
  .extend({
    seq: z.number().int().min(1),
    at: z.iso.datetime(),
    chain: chainIdSchema,
    previous: digestSchema.meta({ description: 'Hash of the record before; 64 zeros for the first.' }),
    hash: digestSchema,
    signature: z.string().meta({ description: 'Ed25519 over the hash, base64.' }),
  })
  .meta({ id: 'AuditRecord' });
export type AuditRecord = z.infer<typeof auditRecordSchema>;

/** Where an entry stands in its chain. */
export const auditReceiptSchema = z
  .strictObject({ chain: chainIdSchema, seq: z.number().int().min(1), hash: digestSchema })
  .meta({ id: 'AuditReceipt' });
export type AuditReceipt = z.infer<typeof auditReceiptSchema>;

/** The last record as its writer signed it: what is cut off at the end of the log is missed by it. */
export const auditHeadSchema = auditReceiptSchema
  .extend({
    at: z.iso.datetime(),
    signature: z.string().meta({ description: 'Ed25519 over the sha256 of the canonical JSON of the rest, base64.' }),
  })
  .meta({ id: 'AuditHead' });
export type AuditHead = z.infer<typeof auditHeadSchema>;

export const auditFaults = ['removed', 'changed', 'reordered', 'bad_signature', 'truncated', 'duplicate'] as const;

export const auditFaultSchema = z
  .strictObject({
    chain: z.string(),
    seq: z.number().int().nullable(),
    line: z.number().int().nullable().meta({ description: 'Line of the log, or place in the export, from 1.' }),
    fault: z.enum(auditFaults),
    why: z.string(),
  })
  .meta({ id: 'AuditFault' });
export type AuditFault = z.infer<typeof auditFaultSchema>;

export const auditVerificationSchema = z
  .strictObject({
    ok: z.boolean(),
    records: z.number().int().min(0),
    chains: z.array(
      z.strictObject({
        chain: z.string(),
        records: z.number().int().min(0),
        last_seq: z.number().int().min(0),
        last_hash: digestSchema.nullable(),
      }),
    ),
    faults: z.array(auditFaultSchema).meta({ description: 'At most 1,000; faults_count counts them all.' }),
    faults_count: z.number().int().min(0),
  })
  .meta({ id: 'AuditVerification' });
export type AuditVerification = z.infer<typeof auditVerificationSchema>;

/** Which records are asked for; what is left out does not matter. */
export const auditFilterSchema = z.strictObject({
  work: workIdSchema.optional(),
  tenant: tenantSchema.optional(),
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
});
export type AuditFilter = z.infer<typeof auditFilterSchema>;

/** Records that a filtered export does not show, by their hashes. */
const omittedSchema = z.strictObject({
  omitted: z.strictObject({ from: z.number().int(), hashes: z.array(digestSchema) }),
});

/** A signed document that can be checked with nothing but itself (spec 08). */
export const auditExportSchema = z
  .strictObject({
    format: z.literal('parley-audit-1'),
    exported_at: z.iso.datetime(),
    filter: auditFilterSchema,
    chains: z.array(
      z.strictObject({
        chain: chainIdSchema,
        public_key: z.string().meta({ description: 'Ed25519, SPKI in PEM.' }),
        head: auditHeadSchema.nullable(),
        records: z.array(z.union([auditRecordSchema, omittedSchema])),
      }),
    ),
    signed_by: z.strictObject({ chain: chainIdSchema, public_key: z.string() }),
    signature: z.string().meta({
      description: 'Ed25519 over the sha256 of the canonical JSON of all the rest, base64.',
    }),
  })
  .meta({ id: 'AuditExport' });
export type AuditExport = z.infer<typeof auditExportSchema>;

export const auditListSchema = z
  .strictObject({ items: z.array(auditRecordSchema), next_after: z.string().nullable() })
  .meta({ id: 'AuditList' });
export type AuditList = z.infer<typeof auditListSchema>;

export interface AuditQuery extends Pick<AuditFilter, 'work' | 'tenant'> {
  /** `next_after` of the page before. */
  after?: string | undefined;
  /** 1–200. */
  limit: number;
}

/** The logs that lie on this machine, for whoever may read them. */
export interface AuditReader {
  /**
   * In the order of the chains, then of their numbers.
   * @throws ParleyError invalid_request for an `after` that is none of ours, unavailable where the log cannot be read
   */
  list(query: AuditQuery, signal: AbortSignal): Promise<AuditList>;
  /** Checks every chain, from its first record to its head. */
  verification(): Promise<AuditVerification>;
  close(): void;
}
