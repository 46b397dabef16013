import { Gauge, Histogram, type Registry } from 'prom-client';

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
  return {
    counted: (provider: string, { waiting, underWay }: { waiting: number; underWay: number }): void => {
      calls.set({ provider, state: 'waiting' }, waiting);
      calls.set({ provider, state: 'under_way' }, underWay);
    },
    waited: (provider: string, milliseconds: number): void => waits.observe({ provider }, milliseconds / 1000),
  };
};
export type GovernorMetrics = ReturnType<typeof createGovernorMetrics>;
