import type { FanOutStatus } from '../src/contracts/fan-out-status.js';
import { measure, percentile, round, table } from './measure.js';
import { startRig } from './rig.js';

const body = (count: number, after_ms: number) => ({
  agents: [{ agent_id: 'a' }],
  fan_out: {
    strategy: 'round_robin',
    tasks: Array.from({ length: count }, (_, index) => ({
      task_id: `t${index}`,
      input_artifacts: [],
      adapter: { kind: 'scripted', script: [{ after_ms, final: { [`k${index}`]: index } }] },
    })),
  },
  barrier: {},
  fan_in: { aggregation_strategy: 'merge' },
});

/** Five equal workers beside one, and beside as many bare activities: same server, same process. */
export const fanOut = async (): Promise<void> => {
  const rig = await startRig();
  const run = async (count: number, ms: number): Promise<string> =>
    (await rig.run<FanOutStatus>('/v1/fan-outs', body(count, ms))).id;
  const rows: Record<string, string | number>[] = [];
  for (const ms of [0, 1_000]) {
    await measure(3, 1, () => run(5, 0));
    const one = percentile((await measure(8, 1, () => run(1, ms))).times, 0.5);
    const five = percentile((await measure(8, 1, () => run(5, ms))).times, 0.5);
    const bare = percentile((await measure(8, 1, () => rig.runBare('bare', 5, ms))).times, 0.5);
    rows.push({
      'task ms': ms,
      'one p50 ms': round(one),
      'five p50 ms': round(five),
      'five of one': round(five / one, 2),
      'bare five p50 ms': round(bare),
      'of bare': round(five / bare, 2),
    });
  }
  console.log(`\nFan-outs of five workers over HTTP\n\n${table(rows)}\n`);
  console.log(table([{ what: 'fan-out of five', ...(await rig.footprint(await run(5, 0))) }]));
  await rig.stop();
};
