import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/**
 * Prometheus metrics of one gateway, in a registry that a worker in the same process may share. Labels stay few: routes,
 * methods, statuses and kinds, never ids (spec 01).
 */
export const createMetrics = (registry = new Registry()) => {
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Histogram({
      name: 'parley_http_request_duration_seconds',
      help: 'Time to answer a request; event streams are not in it.',
      labelNames: ['route', 'method', 'status'] as const,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
      registers: [registry],
    }),
    started: new Counter({
      name: 'parley_work_started_total',
      help: 'Pieces of work this gateway started.',
      labelNames: ['kind'] as const,
      registers: [registry],
    }),
    streams: new Gauge({
      name: 'parley_event_streams_open',
      help: 'Event streams open now.',
      registers: [registry],
    }),
  };
};
export type Metrics = ReturnType<typeof createMetrics>;
