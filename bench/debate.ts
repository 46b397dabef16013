import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DebateStatus } from '../src/contracts/debate-status.js';
import { measure, percentile, round, table, type Sample } from './measure.js';
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
  const rows: Record<string, string | number>[] = [];
  for (const [concurrency, count] of [
    [1, 20],
    [10, 60],
  ] as const) {
    const bare: Sample = { times: [], total: 0 };
    const argued: Sample = { times: [], total: 0 };
    for (let turn = 0; turn < 4; turn += 1) {
      for (const [sample, call] of [
        [bare, runBare],
        [argued, runDebate],
      ] as const) {
        const part = await measure(count / 4, concurrency, call);
        sample.times.push(...part.times);
        sample.total += part.total;
      }
    }
    rows.push({
      concurrency,
      'debate p50 ms': round(percentile(argued.times, 0.5)),
      'debate p95 ms': round(percentile(argued.times, 0.95)),
      'bare p50 ms': round(percentile(bare.times, 0.5)),
      'bare p95 ms': round(percentile(bare.times, 0.95)),
      'ratio of times': round(argued.total / bare.total, 2),
    });
  }
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
