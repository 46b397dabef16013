import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DebateStatus } from '../src/contracts/debate-status.js';
import { besideBare, measure, round, table } from './measure.js';
import { startRig } from './rig.js';

const roles = ['analyst', 'solution', 'critic', 'security', 'optimizer'] as const;
const says = (...answers: object[]) => ({
  adapter: { kind: 'scripted', script: answers.map((answer) => ({ final: JSON.stringify(answer) })) },
});
const agrees = { stance: 'for', confidence: 0.9, position: 'Fine.' };
const objects = { stance: 'against', confidence: 0.9, position: 'Not yet.' };

/** Three passes: the critic is against the plan twice. Blocked at the end, so that no command is run: roles alone are measured. */
const threePasses = (path: string) => ({
  task: 'Make it so',
  workspace: { path },
  limits: { refinements: 2 },
  roles: Object.fromEntries(
    roles.map((role) => {
      if (role === 'critic') return [role, says(objects, objects, objects)];
      if (role === 'security') return [role, says(agrees, agrees, { ...objects, confidence: 1 })];
      if (role === 'solution') return [role, says({ ...agrees, plan: { tasks: [{ task_id: 't', argv: ['true'] }] } })];
      return [role, says(agrees)];
    }),
  ),
});

/** Identity, context, 13 statements (five roles, then four twice), trace, mirror, audit. */
const activitiesOfADebate = 18;

/**
 * A debate of three passes with instant roles beside a bare Temporal workflow of as many activities in a row: same server,
 * same process, in turns. Prints times, the ratio, and what each leaves in Temporal's history.
 */
export const debate = async (): Promise<void> => {
  const rig = await startRig();
  const workspace = join(rig.folder, 'workspace');
  mkdirSync(workspace);
  const runBare = (): Promise<string> => rig.runBare('bareInARow', activitiesOfADebate, 0);
  const runDebate = async (): Promise<string> => {
    const { id, result } = await rig.run<DebateStatus>('/v1/debates', threePasses(workspace));
    if (result?.passes !== 3) throw new Error(`not three passes: ${JSON.stringify(result)}`);
    return id;
  };
  await measure(6, 2, runBare);
  await measure(6, 2, runDebate);
  const rows = await besideBare('debate', runDebate, runBare, [
    [1, 20],
    [10, 60],
  ]);
  console.log(
    `\nDebates of three passes over HTTP, beside a bare workflow of ${activitiesOfADebate} activities in a row\n`,
  );
  console.log(table(rows));
  console.log('\nWhat is left in history\n');
  console.log(
    table([
      { what: `${activitiesOfADebate} bare activities`, ...(await rig.footprint(await runBare())) },
      { what: 'debate of three passes', ...(await rig.footprint(await runDebate())) },
    ]),
  );
  console.log(`\nResident memory of gateway and worker: ${round(rig.resident(), 0)} MiB\n`);
  await rig.stop();
};
