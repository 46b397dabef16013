import { openRunSchema, runStartedSchema } from '../../contracts/run.js';
import { runStatusSchema } from '../../contracts/run-status.js';
import { namedPhases } from '../../domain/run/definition.js';
import { forkRun } from '../../domain/run/fork.js';
import type { RunState } from '../../domain/run/state.js';
import { openWork } from '../../domain/work-state.js';
import { invalidRequest } from '../problem.js';
import { feedbackRoute } from './feedback-route.js';
import { openRunExample, runStartedExample, runStatusExample } from './run-examples.js';
import { runFaultsInside } from './run-faults.js';
import { runSetUp } from './run-steps.js';
import { workRoutes } from './work-routes.js';

const namesBranch = (workspace: unknown): boolean =>
  typeof workspace === 'object' && workspace !== null && 'branch' in workspace;

const common = workRoutes({
  kind: 'run',
  port: ({ runs }) => runs,
  body: openRunSchema,
  bodyExample: openRunExample,
  status: runStatusSchema,
  statusExample: runStatusExample,
  started: runStartedSchema,
  startedExample: runStartedExample,
  setUp: (body, identity, ports, call) => {
    const setUp = runSetUp(body, identity, ports, call);
    if ('faults' in setUp) throw invalidRequest(setUp.faults);
    return setUp.setup;
  },
  faultsInside: runFaultsInside,
  answer: (started) => ({ ...started, kind: 'run' }),
  fork: ({ work, hostQueue }, setup, now, latest) => {
    const { isCopied, ...forked } = forkRun(work as RunState, setup, latest, now);
    // A folder is copied where it is.
    return { ...openWork(forked.work, forked.first), hostQueue: isCopied ? hostQueue : null, gitFolder: null };
  },
  namedBody: ({ phases, ...body }) => ({ ...body, phases: namedPhases(phases) }),
  // The branch of the old run stays its own.
  forkedBody: ({ workspace, ...body }, change) => {
    if (!workspace) return body;
    const { branch, ...place } = workspace;
    const isNamed = branch !== undefined && namesBranch(change['workspace']);
    return { ...body, workspace: isNamed ? workspace : place };
  },
  forkDescription:
    'It works in a folder of its own, on a branch of its own unless the change names one: a copy of the old folder where a step that ' +
    'is kept has worked there. Where that folder is not what it was at the checkpoint any more, the fork is refused. A step ' +
    'that had failed or waited at its gate is asked about again, unless it is to do something else now.',
  spanAttributes: ({ steps }) => ({ steps: steps.length }),
  feedback: ({ runs }) => ({
    port: runs,
    openRequest: ({ feedback }) => feedback.find(({ state }) => state === 'open')?.request ?? null,
  }),
  cancelDescription:
    'Stops the step under way with the work that it has started, and waits for that; what was done stays. Answers with the ' +
    'status, as a rule the final one.',
  whyNoPause: 'a run pauses by itself where it asks people; a `gate` is the place for that. It can be cancelled.',
});

export const runRoutes = [...common, feedbackRoute('run', runStartedExample.id, ({ runs }) => runs)];
