import { governorSettings } from '../../src/domain/governor/settings.js';
import { limitsFor, type LimitSettings, namedFor, presetLimits } from '../../src/settings/limits.js';
import { Lines } from '../owner/lines.js';
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
  const lines = new Lines(name, (provider, of) => {
    const settings = governorSettings(provider, limitsFor(limits, provider, true) ?? presetLimits, limits.weights);
    return new ProviderLine({
      ...of,
      settings,
      link,
      metrics: metrics.of(provider, namedFor(limits, provider)),
      onError,
    });
  });
  return {
    governs: (provider, isModel) => limitsFor(limits, provider, isModel) !== null,
    admit: (call, signal) => lines.to(call.provider).admit(call, signal),
    close: lines.close,
  };
};
