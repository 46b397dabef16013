import type { OpenCoordinatorBody } from '../../src/contracts/coordinator.js';
import type { OpenRunBody } from '../../src/contracts/run.js';
import { aRun, asks, sh } from './run-bodies.js';

type Steps = Parameters<typeof aRun>[0];

/** A run by its work id. */
export const work = (work_id: string, ...steps: Steps): OpenRunBody => aRun(steps, { work_id });

/** Two that complete, two that ask, and one that does not compile, until somebody has mended it. */
export const fiveRunBodies = (): OpenRunBody[] => [
  work('122', sh('make', 'echo pr_url=https://git.example/acme/122/pull/1')),
  work('123', sh('make', 'true')),
  work('124', sh('plan', 'echo a plan', { gate: { prompt: 'Is this plan right?' } }), sh('make', 'true')),
  work('125', sh('test', 'test -e again || { touch again; echo 2 failed >&2; exit 1; }', { on_error: 'ask' })),
  work('126', sh('compile', 'echo "src/main.ts(3,7): error TS2322" >&2; exit 2')),
];

/** One run for each work id that only asks. */
export const askingRuns = (workIds: string[], more: Partial<OpenCoordinatorBody> = {}): OpenCoordinatorBody => {
  const { work_id: _, ...run } = aRun([asks('sure')]);
  return {
    work_ids: workIds,
    run: JSON.parse(JSON.stringify(run)) as NonNullable<OpenCoordinatorBody['run']>,
    ...more,
  };
};
