import { z } from 'zod';
import { type ProviderLimits, providerLimitsSchema, tenantWeightsSchema } from '../contracts/provider-limits.js';
import { jsonOrFile } from './json.js';

const example = '{"providers":{"openai":{"requests":60,"tokens":10000,"concurrency":10}},"weights":{"acme":2}}';

const settingsSchema = z.strictObject({
  providers: z.record(z.string().min(1).max(200), providerLimitsSchema.nullable()).default({}),
  weights: tenantWeightsSchema.default({}),
});
/** Limits by provider, null: it has none; and the shares of tenants. */
export type LimitSettings = z.infer<typeof settingsSchema>;

export const noLimitSettings: LimitSettings = { providers: {}, weights: {} };
/** Of a model's provider that nobody has limited: ten calls at a time (spec 05 "Provider limits"). */
export const presetLimits: ProviderLimits = providerLimitsSchema.parse({});

/** PARLEY_PROVIDER_LIMITS: JSON, or the path of a file that holds it. */
export const limitSettingsSchema = jsonOrFile(settingsSchema, example);

/**
 * What a provider's calls are limited to; null: nothing. `isModel`: without a word of the operator's the preset holds, as for what
 * is paid for; scripts, simulations, programs and agents are limited where they are named alone.
 */
export const limitsFor = ({ providers }: LimitSettings, provider: string, isModel: boolean): ProviderLimits | null => {
  const named = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  return named === undefined ? (isModel ? presetLimits : null) : named;
};
