import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DebateStatus } from '../src/contracts/debate-status.js';
import { besideBareInARow } from './in-a-row.js';

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

/** Debates of three passes with instant roles. */
export const debate = (): Promise<void> =>
  besideBareInARow({
    name: 'debate',
    titles: ['Debates of three passes', 'debate of three passes'],
    // Identity, context, 13 statements (five roles, then four twice), trace, mirror, audit.
    activities: 18,
    loads: [
      [1, 20],
      [10, 60],
    ],
    run: async (rig) => {
      const workspace = join(rig.folder, 'workspace');
      mkdirSync(workspace, { recursive: true });
      const { id, result } = await rig.run<DebateStatus>('/v1/debates', threePasses(workspace));
      if (result?.passes !== 3) throw new Error(`not three passes: ${JSON.stringify(result)}`);
      return id;
    },
  });
