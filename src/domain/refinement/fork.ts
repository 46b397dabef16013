import { canonicalJson } from '../canonical-json.js';
import type { RefinementRole } from '../../contracts/refinement.js';
import type { RefinementEvent } from './effects.js';
import type { RefinementSetup } from './setup.js';
import { openRefinementState, type RefinementState } from './state.js';

/**
 * A refinement that begins from an earlier one (spec 08 "Fork with a question"), with a setup of its own: its versions with
 * their critiques, and nothing under way. A version that has its score is judged by the new limits: it ends there where they
 * say so, also the same way again, or the next iteration begins, also in a refinement that had ended. Else whoever was asked
 * last is asked again, with the new adapter and instructions. Scores stay those of the rubric that they were given by. Where
 * the task is another, or no version was made, it begins from nothing.
 *
 * What versions used stands with them and was paid by the old refinement: this one's own spend begins at 0. The time of an
 * iteration begins anew; `now` (epoch milliseconds) is when this refinement begins.
 */
export const forkRefinement = (
  work: RefinementState,
  setup: RefinementSetup,
  now: number,
): { work: RefinementState; first: RefinementEvent } => {
  const opened = openRefinementState(setup, now);
  const last = work.versions.at(-1);
  if (work.setup.task !== setup.task || !last) return { work: opened, first: { type: 'START' } };
  const isScored = last.critique !== null;
  const isSame = (role: RefinementRole): boolean => isSameAgent(work.setup, setup, role);
  return {
    work: {
      ...opened,
      state: 'CRITIQUING',
      iteration: last.version,
      versions: work.versions,
      // What was wrong with an answer is told to the one who gave it.
      firstFaults: isScored || !isSame('critic') ? null : work.firstFaults,
      turn: isScored ? { on: 'SCORED', fault: null } : null,
      // A script plays on from where it was; another agent has said nothing yet.
      calls: {
        generator: isSame('generator') ? work.calls.generator : 0,
        critic: isSame('critic') ? work.calls.critic : 0,
      },
    },
    first: { type: 'RESUME' },
  };
};

const isSameAgent = (a: RefinementSetup, b: RefinementSetup, role: RefinementRole): boolean =>
  canonicalJson(a[role].adapter) === canonicalJson(b[role].adapter);
