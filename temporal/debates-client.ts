import type { DebateStatus } from '../src/contracts/debate-status.js';
import { closedFromOutside } from '../src/domain/closed-from-outside.js';
import type { DebateSetup } from '../src/domain/debate/setup.js';
import type { DebatesPort } from '../src/gateway/work-port.js';
import { debateWorkflowType } from '../workflows/messages.js';
import { feedbackOf } from './feedback-update.js';
import { createWorkClient, firstWords, type WorkClientOptions, type WorkDefinition } from './work-client.js';

export const debateDefinition: WorkDefinition<DebateSetup, DebateStatus> = {
  kind: 'debate',
  workflowType: debateWorkflowType,
  initialState: 'IDLE',
  summaryOf: ({ task }) => `debate: ${firstWords(task)}`,
  closedFromOutside: closedFromOutside(({ code, message }, { report }) => ({
    code,
    message: message + (report === null ? '' : ' Tasks had run: look at the workspace, nothing was rolled back.'),
  })),
  endedLane: (event) => (event.event === 'statement' ? `${event.data.role}#${event.data.pass}` : null),
  texts: () => [],
};

export const createDebatesClient = (options: WorkClientOptions): DebatesPort => {
  const debates = createWorkClient(debateDefinition, options);
  return {
    ...debates,
    feedback: feedbackOf(debates.update),
  };
};
