import { besideBare, type Load, measure, round, table } from './measure.js';
import { type Rig, startRig } from './rig.js';

interface InARow {
  name: string;
  /** Such as `Debates of three passes`, and one of them. */
  titles: readonly [several: string, one: string];
  /** That one makes, one after the other. */
  activities: number;
  loads: readonly Load[];
  /** Runs one to its end. @returns its id */
  run: (rig: Rig) => Promise<string>;
}

/**
 * Work with instant agents beside a bare Temporal workflow of as many activities in a row: same server, same process, in turns.
 * Prints times, the ratio, and what each leaves in Temporal's history.
 */
export const besideBareInARow = async ({ name, titles, activities, loads, run }: InARow): Promise<void> => {
  const rig = await startRig();
  const runBare = (): Promise<string> => rig.runBare('bareInARow', activities, 0);
  const runWork = (): Promise<string> => run(rig);
  await measure(6, 2, runBare);
  await measure(6, 2, runWork);
  const rows = await besideBare(name, runWork, runBare, loads);
  console.log(`\n${titles[0]} over HTTP, beside a bare workflow of ${activities} activities in a row\n`);
  console.log(table(rows));
  console.log('\nWhat is left in history\n');
  console.log(
    table([
      { what: `${activities} bare activities`, ...(await rig.footprint(await runBare())) },
      { what: titles[1], ...(await rig.footprint(await runWork())) },
    ]),
  );
  console.log(`\nResident memory of gateway and worker: ${round(rig.resident(), 0)} MiB\n`);
  await rig.stop();
};
