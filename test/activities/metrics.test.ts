import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createWorkMetrics } from '../../activities/metrics.js';
import { LocalBus } from '../../src/bus/local.js';
import { workflowSinks } from '../../temporal/workflow-sinks.js';

/** A worker as its workflows tell it of things, at a time that the test sets. */
const createWorker = () => {
  const clock = { now: 0 };
  const registry = new Registry();
  const metrics = createWorkMetrics(registry, () => clock.now);
  const { bus, trace } = workflowSinks(new LocalBus(), metrics, pino({ level: 'silent' }));
  const queued = async (): Promise<number | undefined> =>
    (await registry.getSingleMetric('parley_agents_queued')?.get())?.values[0]?.value;
  const about = (workflowId: string) => ({ workflowId }) as Parameters<typeof trace.queue.fn>[0];
  return {
    clock,
    queued,
    tells: (team: string, depth: number): void => void trace.queue.fn(about(team), depth),
    movesOn: (team: string): void => void bus.hint.fn(about(team), 'touched'),
  };
};

describe('the line of agents that a worker tells of', () => {
  test('is that of all teams that it moves on', async () => {
    const { queued, tells } = createWorker();
    tells('a', 3);
    tells('b', 2);
    expect(await queued()).toBe(5);
    tells('a', 1);
    tells('b', 0);
    expect(await queued()).toBe(1);
  });

  test('is not that of a team that has not moved on here for five minutes', async () => {
    const { clock, queued, tells, movesOn } = createWorker();
    tells('stays', 3);
    tells('goes elsewhere', 2);
    clock.now = 200_000;
    movesOn('stays');
    movesOn('never in line');
    clock.now = 300_000;
    expect(await queued()).toBe(5);
    clock.now = 300_001;
    expect(await queued()).toBe(3);
    clock.now = 500_001;
    expect(await queued()).toBe(0);
  });
});
