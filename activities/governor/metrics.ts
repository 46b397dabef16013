import { Gauge, Histogram, type Registry } from 'prom-client';

interface CallCounts {
  waiting: number;
  underWay: number;
}
/** What a line to one governor counts. */
export interface ProviderMetrics {
  counted(counts: CallCounts): void;
  waited(milliseconds: number): void;
}

/** Prometheus metrics of the calls that wait for a provider's limits, of one worker. */
export const createGovernorMetrics = (registry: Registry) => {
  const registers = [registry];
  const calls = new Gauge({
    name: 'parley_provider_calls',
    help: 'Calls of this worker that keep to limits of a provider: under way, or waiting for them.',
    labelNames: ['provider', 'state'] as const,
    registers,
  });
  const waits = new Histogram({
    name: 'parley_provider_wait_seconds',
    help: 'For how long a call waited for the limits of its provider.',
    labelNames: ['provider'] as const,
    buckets: [0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
    registers,
  });
  /** By label, the providers that have calls. */
  const counts = new Map<string, Map<string, CallCounts>>();
  return {
    /** @param named by what its limits are set, which is its label: whoever asks cannot make many of them */
    of: (provider: string, named: string | null): ProviderMetrics => {
      const label = named ?? provider;
      const together = counts.get(label) ?? new Map<string, CallCounts>();
      counts.set(label, together);
      const sum = (state: keyof CallCounts): number =>
        [...together.values()].reduce((total, count) => total + count[state], 0);
      return {
        counted: (count) => {
          if (count.waiting + count.underWay === 0) together.delete(provider);
          else together.set(provider, count);
          calls.set({ provider: label, state: 'waiting' }, sum('waiting'));
          calls.set({ provider: label, state: 'under_way' }, sum('underWay'));
        },
        waited: (milliseconds) => waits.observe({ provider: label }, milliseconds / 1000),
      };
    },
  };
};
export type GovernorMetrics = ReturnType<typeof createGovernorMetrics>;
