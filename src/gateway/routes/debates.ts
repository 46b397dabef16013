import { debateStartedSchema, openDebateSchema } from '../../contracts/debate.js';
import { debateStatusSchema } from '../../contracts/debate-status.js';
import { forkDebate } from '../../domain/debate/fork.js';
import type { DebateState } from '../../domain/debate/state.js';
import { openWork } from '../../domain/work-state.js';
import { setUpDebate } from '../../domain/debate/set-up-debate.js';
import { invalidRequest } from '../problem.js';
import { debateStartedExample, debateStatusExample, openDebateExample } from './debate-examples.js';
import { feedbackRoute } from './feedback-route.js';
import { workRoutes } from './work-routes.js';

const common = workRoutes({
  kind: 'debate',
  port: ({ debates }) => debates,
  body: openDebateSchema,
  bodyExample: openDebateExample,
  status: debateStatusSchema,
  statusExample: debateStatusExample,
  started: debateStartedSchema,
  startedExample: debateStartedExample,
  setUp: (body, identity, { operator }, { caller }) => {
    const startedBy = caller.authenticated ? caller.name : null;
    const setUp = setUpDebate(body, { ...identity, startedBy, requiresAuthentication: caller.authenticated }, operator);
    if ('faults' in setUp) throw invalidRequest(setUp.faults);
    return setUp.setup;
  },
  answer: (started) => ({ ...started, kind: 'debate' }),
  fork: ({ work, hostQueue }, setup, now) => {
    const forked = forkDebate(work as DebateState, setup, now);
    return { ...openWork(forked.work, forked.first), hostQueue };
  },
  spanAttributes: ({ roles }) => ({ roles: Object.keys(roles).length }),
  feedback: ({ debates }) => ({
    port: debates,
    openRequest: ({ feedback }) => feedback.find(({ outcome }) => outcome === 'pending')?.request ?? null,
  }),
  restoreFault: ({ work }, { id, lifecycle, result }, rollback) => {
    const hasEnded = lifecycle !== 'running' && lifecycle !== 'waiting';
    if (rollback && hasEnded)
      return `debate ${id} has ended, and with it the snapshot that a rollback needs; restore it without rollback.`;
    const { execution } = work as DebateState;
    const isTakenBack = rollback || (hasEnded && result?.outcome !== 'succeeded');
    // Before its snapshot an execution has done nothing yet.
    return isTakenBack && execution !== null && execution.snapshot !== null
      ? `What the tasks of debate ${id} had done at that checkpoint is taken back; restore it to one before its execution.`
      : null;
  },
  rollbackFault: ({ result }) =>
    result?.outcome === 'rollback_incomplete'
      ? `its rollback is incomplete: ${result.reason} Do by hand what its report names, then restore it without rollback.`
      : null,
  cancelDescription:
    'Stops the call or the task under way. Before the first task that is all; from the snapshot on, what was done is ' +
    'rolled back first. Answers with the status, as a rule the final one.',
  whyNoPause: 'a debate is never paused; with `approval` it waits for people before it executes. It can be cancelled.',
});

export const debateRoutes = [...common, feedbackRoute('debate', debateStartedExample.id, ({ debates }) => debates)];
