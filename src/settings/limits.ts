import { z } from 'zod';
import {
  type ProviderLimits,
  providerLimitsSchema,
  providerNameSchema,
  tenantWeightsSchema,
} from '../contracts/provider-limits.js';
import { hostNameFault, sharedKindOf } from '../provider.js';
import { jsonOrFile } from './json.js';

const example = '{"providers":{"openai":{"requests":60,"tokens":10000,"concurrency":10}},"weights":{"acme":2}}';

const settingsSchema = z.strictObject({
  providers: z
    .record(providerNameSchema, providerLimitsSchema.nullable())
    .superRefine((providers, context) => {
      for (const name of Object.keys(providers)) {
        const message = hostNameFault(name);
        if (message !== null) context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .default({}),
  weights: tenantWeightsSchema.default({}),
});
/** Limits by provider, null: it has none; and the shares of tenants. */
export type LimitSettings = z.infer<typeof settingsSchema>;

export const noLimitSettings: LimitSettings = { providers: {}, weights: {} };
/** Of a model's provider that nobody has limited: ten calls at a time (spec 05 "Provider limits"). */
export const presetLimits: ProviderLimits = providerLimitsSchema.parse({});

/** PARLEY_PROVIDER_LIMITS: JSON, or the path of a file that holds it. */
export const limitSettingsSchema = jsonOrFile(settingsSchema, example);

/** The name by which a provider's limits are set: its own, or that of its kind, for each that has none; null: neither. */
export const namedFor = ({ providers }: LimitSettings, provider: string): string | null =>
  [provider, sharedKindOf(provider)].find((name) => name !== null && Object.hasOwn(providers, name)) ?? null;

/**
 * What a provider's calls are limited to; null: nothing. `isModel`: without a word of the operator's the preset holds, as for what
 * is paid for; scripts, simulations, programs and agents are limited where they are named alone.
 */
export const limitsFor = (settings: LimitSettings, provider: string, isModel: boolean): ProviderLimits | null => {
  const name = namedFor(settings, provider);
  return name === null ? (isModel ? presetLimits : null) : (settings.providers[name] ?? null);
};
