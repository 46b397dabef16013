import type { CheckpointList } from '../src/contracts/checkpoint.js';
import { round, table } from './measure.js';
import { startRig } from './rig.js';

const says = (...finals: string[]) => ({ adapter: { kind: 'scripted', script: finals.map((final) => ({ final })) } });

const works: [what: string, path: string, body: unknown][] = [
  [
    'session of three lanes',
    '/v1/sessions',
    { prompt: 'Which colour?', lanes: ['a', 'b', 'c'].map((lane_id) => ({ lane_id, ...says('blue') })) },
  ],
  [
    'refinement of three iterations',
    '/v1/refinements',
    {
      task: 'Write it',
      generator: says('one', 'two', 'three'),
      critic: says('{"score":0.2}', '{"score":0.4}', '{"score":0.6}'),
    },
  ],
  ...[50, 150].map((count): [string, string, unknown] => [
    `fan-out of ${count} tasks`,
    '/v1/fan-outs',
    {
      fan_out: {
        strategy: 'round_robin',
        tasks: Array.from({ length: count }, (_, index) => ({
          task_id: `t${index}`,
          agent: 'a',
          input_artifacts: [],
          ...says(`{"v${index}":1}`),
        })),
      },
      agents: [{ agent_id: 'a', capabilities: [] }],
      barrier: {},
      fan_in: { aggregation_strategy: 'merge' },
    },
  ]),
];

const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const begun = performance.now();
  const result = await work();
  return [result, performance.now() - begun];
};
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * How long it takes to inspect a checkpoint, and to restore work to it (until the new run has begun), over HTTP, by the length
 * of the history: specification 07 asks for 500 ms at up to 1,000 events.
 */
export const checkpoints = async (): Promise<void> => {
  const rig = await startRig();
  const rows: Record<string, string | number>[] = [];
  for (const [what, path, body] of works) {
    const { id } = await rig.run<{ id: string }>(path, body);
    const url = `${rig.app.gatewayUrl}${path}/${id}`;
    const { events } = await rig.footprint(id);
    const { items } = (await (await fetch(`${url}/checkpoints`)).json()) as CheckpointList;
    const last = items.at(-1)?.sequence_num ?? 0;
    const inspect: number[] = [];
    const restore: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const [answer, ms] = await timed(async () => await fetch(`${url}/checkpoints/${last}`));
      if (!answer.ok) throw new Error(`inspect answered ${answer.status}: ${await answer.text()}`);
      inspect.push(ms);
    }
    // Each time other work: what was restored once has its earlier checkpoints in an earlier run, which is one replay more.
    for (let round = 0; round < 5; round += 1) {
      const other = round === 0 ? id : (await rig.run<{ id: string }>(path, body)).id;
      await rig.client.workflow.getHandle(other).result();
      const [answer, ms] = await timed(
        async () =>
          await fetch(`${rig.app.gatewayUrl}${path}/${other}/restore`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ checkpoint: last, reason: 'bench' }),
          }),
      );
      if (!answer.ok) throw new Error(`restore answered ${answer.status}: ${await answer.text()}`);
      restore.push(ms);
    }
    rows.push({
      what,
      events,
      checkpoints: items.length,
      'inspect p50 ms': round(median(inspect), 0),
      'first ms': round(inspect[0] ?? 0, 0),
      'restore p50 ms': round(median(restore), 0),
    });
  }
  console.log('\nCheckpoints over HTTP: the last of each piece of work\n');
  console.log(table(rows));
  await rig.stop();
};
