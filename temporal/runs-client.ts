import type { RunStatus } from '../src/contracts/run-status.js';
import { closedRun } from '../src/domain/run/closed-run.js';
import type { RunSetup } from '../src/domain/run/setup.js';
import type { RunsPort } from '../src/gateway/work-port.js';
import { runWorkflowType } from '../workflows/messages.js';
import { feedbackOf } from './feedback-update.js';
import { createWorkClient, firstWords, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const runDefinition: WorkDefinition<RunSetup, RunStatus> = {
  kind: 'run',
  workflowType: runWorkflowType,
  initialState: 'pending',
  summaryOf: ({ workId, steps }) =>
    `run: ${firstWords(workId)}, ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`,
  nameOf: ({ workId }) => workId,
  closedFromOutside: closedRun,
  endedLane: () => null,
  texts: () => [],
};

export const createRunsClient = (options: WorkClientOptions): RunsPort => {
  const runs = createWorkClient(runDefinition, options);
  return {
    ...runs,
    feedback: feedbackOf(runs.update),
  };
};
