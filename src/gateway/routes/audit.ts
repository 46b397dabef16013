import { z } from 'zod';
import { auditListSchema, auditVerificationSchema } from '../../contracts/audit.js';
import { tenantSchema, workIdSchema } from '../../contracts/work.js';
import { textNumber } from '../query-number.js';
import { route } from '../route.js';

const chain = '1f0c2c0e9a2b4a52';
const hash = '5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5';

const common = {
  method: 'get' as const,
  tag: 'audit',
  params: z.strictObject({}),
  headers: z.object({}),
  body: null,
  problems: ['unauthorized', 'forbidden', 'invalid_request', 'unavailable'] as const,
  access: 'api_key' as const,
};

const listAudit = route({
  ...common,
  path: '/v1/audit',
  summary: 'Read the audit log',
  description:
    'What was decided and done, oldest first, from the log of this machine. Each record names the hash of the one before ' +
    'it; `parley audit export` gives the same as a signed document that is checked offline.',
  query: z.strictObject({
    work: workIdSchema.optional().meta({ description: 'Of this piece of work alone.' }),
    tenant: tenantSchema.optional(),
    after: z.string().min(1).max(64).optional().meta({ description: '`next_after` of the page before.' }),
    limit: textNumber(z.number().int().min(1).max(200)).default(50),
  }),
  responses: {
    200: {
      description: 'One page.',
      schema: auditListSchema,
      example: {
        items: [
          {
            key: 'debate-01JD8W3Z4X5Y6Z7A8B9C0D1E2F:decided',
            work_id: 'debate-01JD8W3Z4X5Y6Z7A8B9C0D1E2F',
            kind: 'debate' as const,
            tenant: 'default',
            trace_id: '0af7651916cd43dd8448eb211c80319c',
            type: 'debate.decided',
            data: { decision: 'PROCEED', consensus: 0.71 },
            seq: 1,
            at: '2026-11-20T10:00:00.000Z',
            chain,
            previous: '0'.repeat(64),
            hash,
            signature: 'Q9r7…==',
          },
        ],
        next_after: null,
      },
    },
  },
  handle: async ({ query }, { audit }, { signal }) => ({ status: 200, body: await audit.list(query, signal) }),
});

const verifyAudit = route({
  ...common,
  path: '/v1/audit/verification',
  summary: 'Check the audit log',
  description:
    'Reads every chain from its first record to its signed head and names each record that was removed, changed, put ' +
    'elsewhere, repeated or cut off. Takes some seconds for 10,000 records; those who ask meanwhile share the answer.',
  query: z.strictObject({}),
  responses: {
    200: {
      description: 'Whole, or every fault.',
      schema: auditVerificationSchema,
      example: {
        ok: true,
        records: 1,
        chains: [{ chain, records: 1, last_seq: 1, last_hash: hash }],
        faults: [],
        faults_count: 0,
      },
    },
  },
  // It tells of the records of all tenants.
  allTenants: true,
  handle: async (_input, { audit }) => ({ status: 200, body: await audit.verification() }),
});

export const auditRoutes = [listAudit, verifyAudit];
