import type { RefinementStatus } from '../src/contracts/refinement-status.js';
import type { RefinementSetup } from '../src/domain/refinement/setup.js';
import type { RefinementsPort } from '../src/gateway/work-port.js';
import { refinementWorkflowType } from '../workflows/messages.js';
import { createWorkClient, firstWords, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const refinementDefinition: WorkDefinition<RefinementSetup, RefinementStatus> = {
  kind: 'refinement',
  workflowType: refinementWorkflowType,
  initialState: 'S0',
  summaryOf: ({ task }) => `refinement: ${firstWords(task)}`,
  closedFromOutside: (status, how, closedAt) => ({
    ...status,
    lifecycle: how === 'FAILED' || how === 'TIMED_OUT' ? 'failed' : 'cancelled',
    waiting: null,
    error: status.error ?? {
      code: how === 'FAILED' ? 'EAGENTDOWN' : 'EPREEMPT',
      message: `The workflow was closed from outside (${how}) in state ${status.state}; see it in Temporal's Web UI.`,
    },
    ended_at: closedAt,
  }),
  endedLane: ({ event, data }) =>
    event === 'version' ? `generator#${data.version}` : event === 'critique' ? `critic#${data.version}` : null,
  texts: () => [],
};

export const createRefinementsClient = (options: WorkClientOptions): RefinementsPort =>
  createWorkClient(refinementDefinition, options);
