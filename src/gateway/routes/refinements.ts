import { openRefinementSchema, refinementStartedSchema } from '../../contracts/refinement.js';
import { refinementStatusSchema } from '../../contracts/refinement-status.js';
import { forkRefinement } from '../../domain/refinement/fork.js';
import type { RefinementState } from '../../domain/refinement/state.js';
import { openWork } from '../../domain/work-state.js';
import { setUpRefinement } from '../../domain/refinement/set-up-refinement.js';
import { invalidRequest } from '../problem.js';
import { openRefinementExample, refinementStartedExample, refinementStatusExample } from './refinement-examples.js';
import { workRoutes } from './work-routes.js';

export const refinementRoutes = workRoutes({
  kind: 'refinement',
  port: ({ refinements }) => refinements,
  body: openRefinementSchema,
  bodyExample: openRefinementExample,
  status: refinementStatusSchema,
  statusExample: refinementStatusExample,
  started: refinementStartedSchema,
  startedExample: refinementStartedExample,
  setUp: (body, identity, { operator }) => {
    const setUp = setUpRefinement(body, identity, operator);
    if ('faults' in setUp) throw invalidRequest(setUp.faults);
    return setUp.setup;
  },
  answer: (started) => ({ ...started, kind: 'refinement' }),
  fork: ({ work }, setup, now) => {
    const forked = forkRefinement(work as RefinementState, setup, now);
    return { ...openWork(forked.work, forked.first) };
  },
  spanAttributes: ({ loop }) => ({ max_iterations: loop.max_iterations }),
  cancelDescription:
    'Stops the call under way. The best version so far stays in the status, as `best`, with the history.',
  whyNoPause: 'a refinement is never paused; it can be cancelled, and keeps the best version so far.',
});
