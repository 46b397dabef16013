import { answered, asker, askingTenant } from '../support/asking-tenant.js';
import { aFanOut, aTask, failing, scripted } from '../support/fan-out-bodies.js';
import { describeReplays, type Story } from '../support/replays.js';

type Over = Parameters<typeof aFanOut>[0];
const said = (id: string, adapter: ReturnType<typeof scripted> | ReturnType<typeof failing>) => aTask(id, { adapter });
const story = (over: Over, act?: Story['act']): Story => ({
  start: (product, id) => product.fanOuts.start({ ...aFanOut(over), id }),
  ...(act && { act }),
});
const fine = [said('t1', scripted({ a: 1 })), said('t2', scripted({ a: 2 }))];
const slow = said('t3', scripted({ a: 3 }, 600_000));

const stories: Record<string, Story> = {
  complete: story({ fan_out: { tasks: fine } }),
  empty: story({ fan_out: { tasks: [] } }),
  queued: story({
    fan_out: {
      tasks: [...fine, aTask('t4', { priority: 2 })],
      max_concurrent: 1,
      queue_overflow: 'priority_evict',
      queue_limit: 1,
    },
  }),
  'partial-by-failure': story({ fan_out: { tasks: [...fine, said('t3', failing('no'))] } }),
  'partial-by-timeout': story({ barrier: { timeout_ms: 1_500 }, fan_out: { tasks: [...fine, slow] } }),
  scored: story({
    fan_out: { tasks: fine },
    fan_in: {
      conflict_resolution: 'orchestrator_decides',
      adapter: scripted({ decisions: [{ pointer: '/a', task_id: 't2' }] }),
      quality: { critic: { adapter: scripted('{"score":0.5}') } },
    },
  }),
  'failed-by-reasons': story({ fan_out: { tasks: [said('t1', failing('no'))] } }),
  'failed-by-timeout': story({ barrier: { timeout_ms: 1_000 }, fan_out: { tasks: [slow] } }),
  'complete-after-its-tenant-had-more': story(
    { tenant: asker, budget: { max_seconds: 600 }, fan_out: { tasks: fine } },
    (product) => answered(product, 2),
  ),
  'partial-by-time': story({ budget: { max_seconds: 4 }, fan_out: { tasks: [...fine, slow] } }),
  'failed-by-time': story({ budget: { max_seconds: 1 }, fan_out: { tasks: [slow] } }),
  'complete-one-by-one': story({
    budget: { max_tokens: 100_000 },
    agents: [{ agent_id: 'a', capabilities: [], adapter: { kind: 'command', argv: ['true'] } }],
    fan_in: { conflict_resolution: 'orchestrator_decides', adapter: scripted({ decisions: [] }) },
  }),
  'failed-unprepared': story({ fan_in: { aggregation_strategy: 'custom', function: 'nobody' } }),
  'failed-fan-in': story({ fan_in: { aggregation_strategy: 'select_best' } }),
  cancelled: story({ fan_out: { tasks: [...fine, slow] } }, async (product, id) => {
    await product.fanOuts.until(id, ({ barrier }) => barrier.completed === 2);
    await product.post(`/v1/fan-outs/${id}/cancel`);
  }),
};

describeReplays(
  'fan-out',
  /^(COMPLETED|FAILED|CANCELLED)$/,
  stories,
  (product, id) => product.fanOuts.status(id),
  askingTenant,
);
