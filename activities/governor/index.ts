import { randomBytes } from 'node:crypto';
import { governorSettings } from '../../src/domain/governor/settings.js';
import { limitsFor, type LimitSettings, presetLimits } from '../../src/settings/limits.js';
import type { GovernorLink } from './link.js';
import type { GovernorMetrics } from './metrics.js';
import type { ProviderGovernor } from './port.js';
import { ProviderLine } from './provider-line.js';

export interface GovernorOptions {
  limits: LimitSettings;
  link: GovernorLink;
  metrics: GovernorMetrics;
  /** Names the worker to people. */
  name: string;
  onError: (error: unknown, what: string) => void;
}

/** One worker's side of all governors. Who is never asked for a call of a limited provider asks nothing of Temporal. */
export const createProviderGovernor = ({ limits, link, metrics, name, onError }: GovernorOptions): ProviderGovernor => {
  const worker = `${name}/${randomBytes(4).toString('hex')}`;
  const lines = new Map<string, ProviderLine>();
  const lineOf = (provider: string): ProviderLine => {
    const known = lines.get(provider);
    if (known) return known;
    const settings = governorSettings(provider, limitsFor(limits, provider, true) ?? presetLimits, limits.weights);
    const line = new ProviderLine({ settings, link, worker, metrics, onError, now: () => performance.now() });
    lines.set(provider, line);
    return line;
  };
  return {
    governs: (provider, isModel) => limitsFor(limits, provider, isModel) !== null,
    admit: (call, signal) => lineOf(call.provider).admit(call, signal),
    close: async () => {
      await Promise.all([...lines.values()].map((line) => line.close()));
    },
  };
};
