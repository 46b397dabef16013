import type { RefinementStatus } from '../src/contracts/refinement-status.js';
import { closedFromOutside } from '../src/domain/closed-from-outside.js';
import type { RefinementSetup } from '../src/domain/refinement/setup.js';
import type { RefinementsPort } from '../src/gateway/work-port.js';
import { refinementWorkflowType } from '../workflows/messages.js';
import { createWorkClient, firstWords, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const refinementDefinition: WorkDefinition<RefinementSetup, RefinementStatus> = {
  kind: 'refinement',
  workflowType: refinementWorkflowType,
  initialState: 'S0',
  summaryOf: ({ task }) => `refinement: ${firstWords(task)}`,
  closedFromOutside: closedFromOutside((fault) => fault),
  endedLane: ({ event, data }) =>
    event === 'version' ? `generator#${data.version}` : event === 'critique' ? `critic#${data.version}` : null,
  texts: () => [],
};

export const createRefinementsClient = (options: WorkClientOptions): RefinementsPort =>
  createWorkClient(refinementDefinition, options);
