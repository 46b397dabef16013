import type { RefinementStatus } from '../src/contracts/refinement-status.js';
import { besideBareInARow } from './in-a-row.js';

const says = (...finals: string[]) => ({
  adapter: { kind: 'scripted', script: finals.map((final) => ({ final })) },
});

/** Three iterations, none good enough: as many calls as a refinement of the usual limits makes at most. */
const threeIterations = {
  task: 'Write it',
  generator: says('one', 'two', 'three'),
  critic: says('{"score":0.2}', '{"score":0.4}', '{"score":0.6}'),
};

/** Refinements of three iterations with instant agents. */
export const refinement = (): Promise<void> =>
  besideBareInARow({
    name: 'refinement',
    titles: ['Refinements of three iterations', 'refinement of three iterations'],
    activities: 6,
    loads: [
      [1, 20],
      [10, 40],
    ],
    run: async (rig) => {
      const { id, result } = await rig.run<RefinementStatus>('/v1/refinements', threeIterations);
      if (result?.iterations !== 3) throw new Error(`not three iterations: ${JSON.stringify(result)}`);
      return id;
    },
  });
