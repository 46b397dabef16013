import { besideBare, measure, round, table } from './measure.js';
import { startRig } from './rig.js';

const lanes = 5;
const laneMs = 20;

/**
 * Sessions of five lanes of 20 ms beside a bare Temporal workflow of five activities of 20 ms: same server, same process,
 * same worker settings, in turns. Prints rates, latencies, the ratio, and what each leaves in Temporal's history.
 */
export const sessions = async (): Promise<void> => {
  const rig = await startRig();
  const script = [{ after_ms: laneMs, final: 'blue' }];
  const plain = {
    prompt: 'Which colour?',
    lanes: Array.from({ length: lanes }, (_, index) => ({
      lane_id: `l${index}`,
      adapter: { kind: 'scripted', script },
    })),
  };
  const runBare = (): Promise<string> => rig.runBare('bare', lanes, laneMs);
  const runSession = async (body: unknown = plain): Promise<string> => (await rig.run('/v1/sessions', body)).id;

  await measure(40, 10, () => runBare());
  await measure(40, 10, () => runSession());
  const rows = await besideBare('session', () => runSession(), runBare, [
    [1, 40],
    [10, 200],
    [50, 400],
  ]);
  console.log(
    `\nSessions of ${lanes} lanes of ${laneMs} ms over HTTP, beside a bare workflow of ${lanes} activities\n`,
  );
  console.log(table(rows));

  const tokens = 1000;
  const word = { after_ms: 2, partial: 'blue ' };
  const streaming = {
    prompt: 'Say it often.',
    lanes: [0, 1, 2, 3, 4].map((index) => ({
      lane_id: `l${index}`,
      adapter: { kind: 'scripted', script: [{ ...word, repeat: tokens / lanes }, { final: 'blue' }] },
    })),
    policy: { early_exit: { enabled: false } },
  };
  console.log('\nWhat is left in history\n');
  console.log(
    table([
      { what: 'bare workflow', ...(await rig.footprint(await runBare())) },
      { what: 'plain five-lane session', ...(await rig.footprint(await runSession())) },
      { what: `session that streams ${tokens} tokens`, ...(await rig.footprint(await runSession(streaming))) },
    ]),
  );
  console.log(`\nResident memory of gateway and worker: ${round(rig.resident(), 0)} MiB\n`);
  await rig.stop();
};
