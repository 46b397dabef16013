import { z } from 'zod';
import { tenantSchema } from './work.js';

const limit = z.number().int().min(1).max(1_000_000_000);
const limits = {
  requests: limit.optional().meta({ description: 'Requests in any window; no limit where left out.' }),
  tokens: limit.optional().meta({ description: 'Tokens, of prompts and answers, in any window.' }),
  concurrency: limit.optional().meta({ description: 'Requests under way at a time.' }),
};

/** A provider of models, `mcp:SERVER`, or the kind and the host of remote agents. */
export const providerNameSchema = z.string().min(1).max(300);

/** What one provider allows to all workers together (spec 08 "Provider governor"). */
export const providerLimitsSchema = z
  .strictObject({
    ...limits,
    concurrency: limit.default(10),
    window_ms: z.number().int().min(100).max(86_400_000).default(60_000),
    burst: z
      .number()
      .gt(0)
      .max(1)
      .default(0.25)
      .meta({ description: 'Share of a window that may go out at once; the rest follows evenly.' }),
    models: z.record(z.string().min(1).max(200), z.strictObject(limits)).default({}),
  })
  .meta({ id: 'ProviderLimits' });
export type ProviderLimits = z.infer<typeof providerLimitsSchema>;

/** Shares of tenants relative to each other; 1 for those left out. */
export const tenantWeightsSchema = z.record(tenantSchema, z.number().positive().max(1_000));
export type TenantWeights = z.infer<typeof tenantWeightsSchema>;

const use = z.strictObject({ used: z.number().int().min(0), limit: z.number().int().nullable() });

const waitingCalls = z.number().int().min(0);

/** How a provider's governor stands. */
export const providerStatusSchema = z
  .strictObject({
    provider: z.string(),
    window_ms: z.number().int(),
    breaker: z.enum(['closed', 'open', 'half_open']),
    open_until: z.iso.datetime().nullable(),
    limits: z.array(
      z.strictObject({
        model: z.string().nullable().meta({ description: 'null: of the provider as a whole.' }),
        requests: use,
        tokens: use,
        concurrency: use,
        paused_until: z.iso.datetime().nullable(),
      }),
    ),
    tenants: z.array(
      z.strictObject({
        tenant: z.string(),
        waiting: waitingCalls,
        waiting_by_tier: z.strictObject({ gold: waitingCalls, silver: waitingCalls, bronze: waitingCalls }),
        under_way: z.number().int().min(0),
        oldest_since: z.iso.datetime().nullable(),
      }),
    ),
  })
  .meta({ id: 'ProviderStatus' });
export type ProviderStatus = z.infer<typeof providerStatusSchema>;

export const providerSchema = providerStatusSchema
  .extend({
    for_each: z
      .enum(['host', 'server'])
      .nullable()
      .meta({
        description:
          'Of http, a2a and mcp: these are the limits of each host of remote agents, or each MCP server, that has none of its own; such a one is ' +
          'called http:HOST, a2a:HOST or mcp:SERVER. null: of one provider.',
      }),
    running: z.boolean().meta({
      description:
        'Whether its governor runs. It begins with a call and ends an hour after the last one; without it nothing is used, and the limits are those of PARLEY_PROVIDER_LIMITS.',
    }),
  })
  .meta({ id: 'Provider' });
export type Provider = z.infer<typeof providerSchema>;

export const providerListSchema = z.strictObject({ items: z.array(providerSchema) }).meta({ id: 'ProviderList' });
export type ProviderList = z.infer<typeof providerListSchema>;
