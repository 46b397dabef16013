import type { RefinementStatus } from '../src/contracts/refinement-status.js';
import { besideBare, measure, round, table } from './measure.js';
import { startRig } from './rig.js';

const says = (...finals: string[]) => ({
  adapter: { kind: 'scripted', script: finals.map((final) => ({ final })) },
});

/** Three iterations, none good enough: as many calls as a refinement of the usual limits makes at most. */
const threeIterations = {
  task: 'Write it',
  generator: says('one', 'two', 'three'),
  critic: says('{"score":0.2}', '{"score":0.4}', '{"score":0.6}'),
};
const callsOfARefinement = 6;

/**
 * A refinement of three iterations with instant agents beside a bare Temporal workflow of as many activities in a row: same
 * server, same process, in turns. Prints times, the ratio, and what each leaves in Temporal's history.
 */
export const refinement = async (): Promise<void> => {
  const rig = await startRig();
  const runBare = (): Promise<string> => rig.runBare('bareInARow', callsOfARefinement, 0);
  const runRefinement = async (): Promise<string> => {
    const { id, result } = await rig.run<RefinementStatus>('/v1/refinements', threeIterations);
    if (result?.iterations !== 3) throw new Error(`not three iterations: ${JSON.stringify(result)}`);
    return id;
  };
  await measure(6, 2, runBare);
  await measure(6, 2, runRefinement);
  const rows = await besideBare('refinement', runRefinement, runBare, [
    [1, 20],
    [10, 40],
  ]);
  console.log(
    `\nRefinements of three iterations over HTTP, beside a bare workflow of ${callsOfARefinement} activities in a row\n`,
  );
  console.log(table(rows));
  console.log('\nWhat is left in history\n');
  console.log(
    table([
      { what: `${callsOfARefinement} bare activities`, ...(await rig.footprint(await runBare())) },
      { what: 'refinement of three iterations', ...(await rig.footprint(await runRefinement())) },
    ]),
  );
  console.log(`\nResident memory of gateway and worker: ${round(rig.resident(), 0)} MiB\n`);
  await rig.stop();
};
